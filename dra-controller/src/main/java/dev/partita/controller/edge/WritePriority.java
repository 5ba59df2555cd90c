package dev.partita.controller.edge;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Lets writes of allocations go before notes to people, such as events and conditions. For any thread. */
final class WritePriority {
  /** What a call does before and after. */
  interface Turn {
    void begin();

    void end();
  }

  private final long patience;
  private int underWay;
  private long busySince;

  /**
   * @param patience how long there may be calls of the first kind without a pause until those of the second go beside
   *        them
   */
  WritePriority(Duration patience) {
    this.patience = patience.toNanos();
  }

  /** A turn that goes at once. */
  Turn first() {
    return new Turn() {
      @Override
      public void begin() {
        enter();
      }

      @Override
      public void end() {
        leave();
      }
    };
  }

  /** A turn that waits for those that go first; not if its thread is interrupted. */
  Turn second() {
    return new Turn() {
      @Override
      public void begin() {
        give();
      }

      @Override
      public void end() {}
    };
  }

  private synchronized void enter() {
    if (underWay++ == 0) {
      busySince = System.nanoTime();
    }
  }

  private synchronized void leave() {
    if (--underWay == 0) {
      notifyAll();
    }
  }

  private synchronized void give() {
    try {
      while (underWay > 0) {
        long left = patience - (System.nanoTime() - busySince);
        if (left <= 0) {
          return;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
