package dev.partita.controller.commit;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/** Threads that wait for the API server. */
final class Writers {
  private static final int SECONDS = 10;

  private Writers() {}

  /** Lets them do what they were given, for ten seconds at most; then they are interrupted. */
  static void end(ExecutorService writers) {
    writers.shutdown();
    try {
      if (!writers.awaitTermination(SECONDS, TimeUnit.SECONDS)) {
        writers.shutdownNow();
      }
    } catch (InterruptedException e) {
      writers.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
