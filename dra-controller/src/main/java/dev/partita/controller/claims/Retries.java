package dev.partita.controller.claims;

import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Looks at things again after a pause. For one thread. */
final class Retries {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MOST_DOUBLINGS = 8;

  private final EventLoop<WorkItem> loop;
  private final Map<ObjectKey, Integer> failures = new HashMap<>();

  Retries(EventLoop<WorkItem> loop) {
    this.loop = loop;
  }

  /** Looks at the pod again after a pause that grows with every failure in a row. */
  void failed(ObjectKey pod) {
    int before = failures.merge(pod, 1, Integer::sum) - 1;
    after(FIRST_PAUSE.multipliedBy(1L << Math.min(before, MOST_DOUBLINGS)), new WorkItem.Again(pod));
  }

  void succeeded(ObjectKey pod) {
    failures.remove(pod);
  }

  void after(Duration pause, WorkItem item) {
    loop.postAfter(pause, item);
  }
}
