package dev.partita.controller.stream;

import dev.partita.controller.stream.StreamRun.Answer;

/** Hears what happens to pods, by their numbers from 0, while a stream is played. */
public interface StreamEvents {
  /** The pod arrived, and went there; or it waits, if it fitted nowhere. */
  void arrived(int pod, Answer answer);

  /** The pod waited so many seconds, and went there. */
  void startedLater(int pod, Answer answer, double waited);

  /** The pod is gone. */
  void left(int pod);
}
