package dev.partita.plugin.mps;

import java.io.IOException;
import java.nio.file.Path;

/** Begins MPS control daemons, asks them, and ends them. */
public interface MpsControl {
  /** Whether a daemon answers in that folder of sockets. Who does not answer for some seconds does not answer. */
  boolean answers(Path pipe) throws IOException;

  /**
   * Begins one, in the place of one that does not answer any more. It goes on when this process ends.
   *
   * @param card the UUID of the only card that it and its clients see
   * @param pipe where it has its sockets, an existing folder
   * @param log where it writes what it does, an existing folder
   * @throws IOException if it does not listen within some seconds: why, and what to do
   */
  void begin(String card, Path pipe, Path log) throws IOException;

  /**
   * Bounds what each client gets that comes from now on, whatever its environment says. The daemon has one card, so its
   * ordinal is 0.
   *
   * @param percent of the card's multiprocessors
   * @param mebibytes of its memory
   */
  void limit(Path pipe, int percent, long mebibytes) throws IOException;

  /**
   * Ends the daemon of that folder with its servers. Programs that use it lose their contexts. Nothing is done if there
   * is none.
   */
  void end(Path pipe) throws IOException;
}
