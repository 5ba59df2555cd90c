package dev.partita.controller.turns;

/** Tells an error that concerns one decision from one after which the process is lost. */
public final class Fatal {
  private Fatal() {}

  /**
   * Throws it on if nothing of this process is to be trusted any more: it has no memory left, or the JVM says that it
   * is broken. A stack that overflowed, an assertion and a class that cannot be loaded concern what was being done.
   */
  public static void rethrow(Throwable problem) {
    if (problem instanceof VirtualMachineError error && !(error instanceof StackOverflowError)) {
      throw error;
    }
  }
}
