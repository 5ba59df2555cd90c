package dev.partita.plugin.claimstatus;

import java.time.Duration;

/**
 * Counts the calls in which kubelet waits for claims, so that what nobody waits for gives way to them: a node that
 * starts many pods at once has few processors, and each report of a claim takes as much of them as its preparation. It
 * gives way for a limited time from the first of calls that overlap, since a call can take as long as the driver does.
 *
 * <p>For example, it gives way for 1 s. Of a hundred calls at once the last is answered after 0.4 s: until then it
 * gives way. One call waits 20 s for the driver: it gives way in the first of them. For any thread.
 */
public final class WaitingCalls {
  private final Duration most;
  private int calls;
  private long until; // by System.nanoTime; of the calls that overlap now

  /** @param most how long it gives way to calls that overlap */
  WaitingCalls(Duration most) {
    this.most = most;
  }

  /** A call; closed when it is answered. */
  public interface Call extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * A call has come.
   *
   * @param last runs when no call waits any more
   */
  synchronized Call begin(Runnable last) {
    if (calls++ == 0) {
      until = System.nanoTime() + most.toNanos();
    }
    return () -> {
      if (end()) {
        last.run();
      }
    };
  }

  private synchronized boolean end() {
    return --calls == 0;
  }

  /** How long to give way yet; not positive for not at all. */
  synchronized Duration patience() {
    return calls == 0 ? Duration.ZERO : Duration.ofNanos(until - System.nanoTime());
  }
}
