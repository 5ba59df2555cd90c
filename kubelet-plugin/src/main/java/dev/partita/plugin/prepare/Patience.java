package dev.partita.plugin.prepare;

import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long a preparation may wait for something else before it must answer.
 *
 * @param call whose answer is waited for; ended when nobody waits any more
 * @param deadline when waiting must end
 */
record Patience(Context call, Deadline deadline) {
  /**
   * How much of kubelet's patience is kept for the preparation itself: an answer that comes too late is lost, and so is
   * its reason.
   */
  static final Duration RESERVE = Duration.ofSeconds(5);

  /** The patience of a call without a deadline; kubelet gives every call 45 s. */
  private static final Duration WITHOUT_DEADLINE = Duration.ofSeconds(40);

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(20);

  /** That of a caller who does not wait at all. */
  static final Patience NONE = new Patience(Context.ROOT, Deadline.after(0, TimeUnit.SECONDS));

  /** That of kubelet, whose call this is. */
  static Patience ofKubelet() {
    Context call = Context.current();
    Deadline deadline = call.getDeadline();
    return new Patience(
        call,
        deadline == null
            ? Deadline.after(WITHOUT_DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
            : deadline.offset(-RESERVE.toMillis(), TimeUnit.MILLISECONDS));
  }

  /** Pauses until the next look at what is waited for; whether there is to be one. */
  static boolean pause() {
    try {
      Thread.sleep(BETWEEN_LOOKS);
      return true;
    } catch (InterruptedException e) { // the plugin is stopping
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Whether nobody waits any more, or may not much longer. */
  boolean isOver() {
    return call.isCancelled() || deadline.isExpired();
  }
}
