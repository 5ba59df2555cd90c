package dev.partita.controller.claims;

import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import java.time.Duration;

/** Looks at things again after a pause. For one thread. */
final class Retries {
  private final EventLoop<WorkItem> loop;
  private final Backoff<ObjectKey> pods = new Backoff<>();

  Retries(EventLoop<WorkItem> loop) {
    this.loop = loop;
  }

  /** Looks at the pod again after a pause that grows with every failure in a row. */
  void failed(ObjectKey pod) {
    after(pods.failed(pod), new WorkItem.Again(pod));
  }

  void succeeded(ObjectKey pod) {
    pods.forget(pod);
  }

  void after(Duration pause, WorkItem item) {
    loop.postAfter(pause, item);
  }
}
