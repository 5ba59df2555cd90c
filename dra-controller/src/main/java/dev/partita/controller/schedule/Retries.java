package dev.partita.controller.schedule;

import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import java.time.Duration;

/** Looks at things again after a pause. For one thread. */
public final class Retries {
  static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  static final int MOST_DOUBLINGS = 8;

  private final EventLoop<WorkItem> loop;
  private final Backoff<ObjectKey> pods = new Backoff<>(FIRST_PAUSE, MOST_DOUBLINGS);

  public Retries(EventLoop<WorkItem> loop) {
    this.loop = loop;
  }

  /** Looks at the pod again after a pause that grows with every failure in a row. */
  void failed(ObjectKey pod) {
    pods.failed(pod).ifPresent(pause -> after(pause, new WorkItem.DecisionRetry(pod)));
  }

  /** That pause is over. */
  public void tried(ObjectKey pod) {
    pods.tried(pod);
  }

  void succeeded(ObjectKey pod) {
    pods.succeeded(pod);
  }

  public void after(Duration pause, WorkItem item) {
    loop.postAfter(pause, item);
  }
}
