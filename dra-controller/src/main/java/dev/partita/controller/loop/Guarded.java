package dev.partita.controller.loop;

import dev.partita.controller.turns.Fatal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles one thing of several so that one that cannot be handled does not take the others with it. */
final class Guarded {
  private static final Logger LOG = LoggerFactory.getLogger(Guarded.class);

  private Guarded() {}

  /** @param what the thing, for the log */
  static void run(Object what, Runnable handling) {
    try {
      handling.run();
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("{}: handling it failed", what, e);
    }
  }
}
