package dev.partita.controller.watch;

/** Says what happens to a thread that does one thing after another when one of them fails. */
public final class Faults {
  private Faults() {}

  /**
   * Whether the failure is of the thing that was worked on, so that the next one may do better: an exception, a stack
   * that it filled, a condition that it broke. Every other error is of the process: no memory, a class that cannot be
   * loaded. It must end the process, since the next start or another instance does better than one that leads and
   * cannot work.
   */
  public static boolean isOfTheItem(Throwable failure) {
    return failure instanceof Exception || failure instanceof StackOverflowError || failure instanceof AssertionError;
  }

  /**
   * Ends the process if the failure is of the process, also where an executor would keep it to itself: by the handler
   * of the thread (see {@code Main}).
   */
  public static void endUnlessOfTheItem(Throwable failure) {
    if (!isOfTheItem(failure)) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    }
  }
}
