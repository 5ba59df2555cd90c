package dev.partita.controller.history;

import org.slf4j.Logger;

/** Warns of what comes again and again once, until it is over or is something else. For any thread. */
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
