package dev.partita.controller.web;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.FleetCount;
import dev.partita.controller.fleet.Totals;
import dev.partita.controller.fleet.WaitingPod;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.history.History;
import dev.partita.controller.history.Sample;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.quota.QuotaLedger;
import dev.partita.controller.quota.QuotaWorld;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what the fleet is now, once for all viewers, and samples its figures every minute. In a large cluster that
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
  private final History history;
  private final ScheduledExecutorService sampling =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("fleet-history").daemon().factory());
  private final CachedCount<FleetCount> fleet =
      new CachedCount<>(earlier -> count(Objects.requireNonNullElse(earlier, FleetCount.NONE)));
  private final CachedCount<Map<String, Map<String, List<QuotaLedger.NamespaceUse>>>> quotaUses =
      new CachedCount<>(_ -> countQuotas());

  /** @param history gets the samples */
  FleetNow(ClusterView view, InstantSource clock, History history) {
    this.view = view;
    this.clock = clock;
    this.history = history;
    sampling.execute(this::sample);
  }

  /**
   * Keeps the last count for a second, and for ten times as long as it took: so that viewers take a tenth of a
   * processor at most.
   */
  private static final class CachedCount<T> {
    private final Function<@Nullable T, T> count;
    private @Nullable T last;
    private boolean asked;
    private long madeAt; // by System.nanoTime
    private long took;
    private long tookInAll;

    /** @param count from the last count, if that is still kept */
    private CachedCount(Function<@Nullable T, T> count) {
      this.count = count;
    }

    private synchronized T get() {
      asked = true;
      long begin = System.nanoTime();
      @Nullable T known = last;
      if (known != null && begin - madeAt < Math.max(FRESH.toNanos(), VIEWERS_PART * took)) {
        return known;
      }
      T made = count.apply(known);
      last = made;
      madeAt = System.nanoTime();
      took = madeAt - begin;
      tookInAll += took;
      return made;
    }

    private synchronized long tookInAll() {
      return tookInAll;
    }

    /** What nobody has looked at since the last time is not kept: a fleet of 5,000 nodes has some 34 MiB. */
    private synchronized void forgetUnlessAsked() {
      if (!asked) {
        last = null;
      }
      asked = false;
    }
  }

  /** The fleet, at most some seconds old. */
  Fleet fleet() {
    return fleet.get().fleet();
  }

  /** How long counting for viewers has taken since the start, in ns. */
  long counted() {
    return fleet.tookInAll() + quotaUses.tookInAll();
  }

  /** What namespaces have of each quota, by the quota's name and the limit's; at most some seconds old. */
  Map<String, Map<String, List<QuotaLedger.NamespaceUse>>> quotaUses() {
    return quotaUses.get();
  }

  private Map<String, Map<String, List<QuotaLedger.NamespaceUse>>> countQuotas() {
    QuotaLedger ledger = new QuotaLedger();
    Inventory inventory = view.inventory();
    ledger.refresh(QuotaWorld.of(view, inventory));
    Map<String, List<Booking>> taken = new HashMap<>();
    for (ResourceClaim claim : view.claims()) {
      String uid = claim.getMetadata().getUid();
      List<Booking> bookings = AllocatedClaim.taken(claim);
      taken.put(uid, bookings);
      ledger.put(uid, claim.getMetadata().getNamespace(), bookings);
    }
    inventory.hosts().values().stream().flatMap(host -> HeldBookings.of(host).stream())
        .filter(held -> held.counts(taken.getOrDefault(held.claimUid(), List.of())))
        .forEach(held -> ledger.put(held.key(), held.namespace().orElse(""), held.bookings()));
    return ledger.namespaces();
  }

  private FleetCount count(FleetCount earlier) {
    return earlier.refreshed(view.inventory(), view.gpuNodes(), view.claims());
  }

  List<WaitingPod> waiting() {
    return view.pods().stream().flatMap(pod -> WaitingPod.of(pod).stream()).toList();
  }

  private void sample() {
    long begin = System.nanoTime();
    try {
      Fleet now = count(FleetCount.NONE).fleet();
      if (!now.nodes().isEmpty()) { // none, or none that has been read yet: not a fleet of nothing
        history.add(new Sample(clock.instant().getEpochSecond(), Totals.of(now), waiting().size()));
      }
      fleet.forgetUnlessAsked();
      quotaUses.forgetUnlessAsked();
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
