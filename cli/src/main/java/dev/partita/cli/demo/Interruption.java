package dev.partita.cli.demo;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets this thread clean up when the process is told to end (Ctrl-C, SIGTERM): it is interrupted, and the process waits
 * until it is done.
 */
final class Interruption implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Thread worker = Thread.currentThread();
  private final CountDownLatch done = new CountDownLatch(1);
  private final Runnable atOnce;
  private final Thread hook = new Thread(this::interrupt, "interruption");
  private volatile boolean happened;

  /**
   * @param atOnce what to do when it happens, while this thread still works
   */
  Interruption(Runnable atOnce) {
    this.atOnce = atOnce;
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void interrupt() {
    happened = true;
    atOnce.run();
    worker.interrupt();
    try {
      boolean _ = done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  boolean happened() {
    return happened;
  }

  /** Everything is cleaned up: the process may end. */
  @Override
  public void close() {
    done.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running.
    }
  }
}
