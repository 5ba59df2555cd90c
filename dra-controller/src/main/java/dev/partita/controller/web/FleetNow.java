package dev.partita.controller.web;

import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.WaitingPod;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.web.view.History;
import dev.partita.controller.web.view.Totals;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what the fleet is now, once for all viewers, and keeps its figures of the last day. In a large cluster that
 * takes a while: it is then done less often, so that it never takes more than a tenth of a processor for viewers, and a
 * hundredth without any. For any thread.
 */
final class FleetNow implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FleetNow.class);
  private static final Duration FRESH = Duration.ofSeconds(1);
  private static final Duration SAMPLE = Duration.ofMinutes(1);
  private static final int VIEWERS_PART = 10;
  private static final int SAMPLES_PART = 100;

  private final ClusterView view;
  private final InstantSource clock;
  private final History history = new History();
  private final ScheduledExecutorService sampling =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("fleet-history").daemon().factory());
  private @Nullable Fleet fleet;
  private boolean asked;
  private long madeAt; // by System.nanoTime
  private long took;

  FleetNow(ClusterView view, InstantSource clock) {
    this.view = view;
    this.clock = clock;
    sampling.execute(this::sample);
  }

  /** The fleet, at most some seconds old. */
  synchronized Fleet fleet() {
    asked = true;
    long begin = System.nanoTime();
    @Nullable Fleet last = fleet;
    if (last != null && begin - madeAt < Math.max(FRESH.toNanos(), VIEWERS_PART * took)) {
      return last;
    }
    Fleet made = count();
    fleet = made;
    madeAt = System.nanoTime();
    took = madeAt - begin;
    return made;
  }

  private Fleet count() {
    return Fleet.of(view.inventory(), view.gpuNodes(), view.claims());
  }

  /** What nobody has looked at for a minute is not kept: it has some 10 MiB in a cluster of 5,000 nodes. */
  private synchronized void forgetUnlessAsked() {
    if (!asked) {
      fleet = null;
    }
    asked = false;
  }

  List<WaitingPod> waiting() {
    return view.pods().stream().flatMap(pod -> WaitingPod.of(pod).stream()).toList();
  }

  History.View history() {
    return history.view();
  }

  private void sample() {
    long begin = System.nanoTime();
    try {
      history.add(new History.Sample(clock.instant().getEpochSecond(), Totals.of(count()), waiting().size()));
      forgetUnlessAsked();
    } catch (RuntimeException e) {
      LOG.error("the fleet's figures cannot be counted", e);
    }
    long pause = Math.max(SAMPLE.toNanos(), SAMPLES_PART * (System.nanoTime() - begin));
    var _ = sampling.schedule(this::sample, pause, TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    sampling.shutdownNow();
  }
}
