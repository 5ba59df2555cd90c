package dev.partita.controller.claims;

import dev.partita.controller.watch.ObjectKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Looks at things again after a pause. For one thread. */
final class Retries implements AutoCloseable {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MOST_DOUBLINGS = 8;

  private final Consumer<WorkItem> loop;
  private final Map<ObjectKey, Integer> failures = new HashMap<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("allocation-timer").daemon().factory());

  Retries(Consumer<WorkItem> loop) {
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
    if (!timer.isShutdown()) {
      var _ = timer.schedule(() -> loop.accept(item), pause.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
