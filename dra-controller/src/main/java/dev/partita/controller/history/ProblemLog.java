package dev.partita.controller.history;

import org.slf4j.Logger;

/**
 * Warns of a problem once, although it is met again and again, such as each minute: anew when it is another one, or had
 * been over. For any thread.
 */
final class ProblemLog {
  private final Logger log;
  private String last = "";

  ProblemLog(Logger log) {
    this.log = log;
  }

  synchronized void say(String problem) {
    if (!problem.equals(last)) {
      log.warn("{}", problem);
    }
    last = problem;
  }

  synchronized void over() {
    last = "";
  }
}
