package dev.partita.cli.placement;

import dev.partita.cli.output.Terminal;
import dev.partita.controller.stream.StreamEvents;
import dev.partita.controller.stream.StreamRun.Answer;
import java.io.PrintWriter;

/**
 * Shows on a terminal how many pods of a stream have arrived, and how many wait; writes nothing anywhere else. Several
 * plays may tell it at once: then it counts the pods of all of them.
 */
class PodProgress implements StreamEvents {
  private static final int STEP = 1_000;

  private final PrintWriter err;
  private final String play;
  private final int pods;
  private final boolean watched = Terminal.isProgressSeen();
  private int arrived;
  private int waiting;

  /**
   * @param play what is played, for people: stands before the numbers
   * @param pods that arrive
   */
  PodProgress(PrintWriter err, String play, int pods) {
    this.err = err;
    this.play = play;
    this.pods = pods;
  }

  @Override
  public void arrived(int pod, Answer answer) {
    synchronized (this) {
      arrived++;
      waiting += answer.node().isEmpty() ? 1 : 0;
      if (watched && arrived % STEP == 0) {
        err.printf("\r\033[K%s%,d of %,d pods, %,d wait", play, arrived, pods, waiting);
        err.flush();
      }
    }
  }

  @Override
  public void startedLater(int pod, Answer answer, double waited) {
    synchronized (this) {
      waiting--;
    }
  }

  @Override
  public void left(int pod) {}

  /** Takes the line away. */
  void end() {
    if (watched) {
      err.print("\r\033[K");
      err.flush();
    }
  }
}
