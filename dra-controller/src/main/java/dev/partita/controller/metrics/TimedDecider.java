package dev.partita.controller.metrics;

import dev.partita.controller.decide.Beside;
import dev.partita.controller.decide.Decider;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.turns.AlikePods;
import io.fabric8.kubernetes.api.model.Pod;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Times decisions about pods, by what came out: {@code partita_decision_seconds}. */
public final class TimedDecider implements Decider {
  private static final Duration[] BUCKETS = {Duration.ofNanos(50_000), Duration.ofNanos(200_000), Duration.ofMillis(1),
    Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(100), Duration.ofSeconds(1),
    Duration.ofSeconds(10)};

  private final Decider decider;
  private final Timer allocated;
  private final Timer waits;
  private final Timer refused;
  private final Timer other;

  public TimedDecider(Decider decider, MeterRegistry registry) {
    this.decider = decider;
    this.allocated = timer(registry, "allocated");
    this.waits = timer(registry, "waits");
    this.refused = timer(registry, "refused");
    this.other = timer(registry, "nothing");
  }

  @Override
  public Reading read(Pod pod, Map<String, String> placed) {
    return decider.read(pod, placed);
  }

  @Override
  public Decision decide(
      Pod pod,
      Inventory inventory,
      Instant now,
      Beside beside,
      Optional<AlikePods> alike) {
    long start = System.nanoTime();
    Decision decision = decider.decide(pod, inventory, now, beside, alike);
    (switch (decision) {
      case Decision.Allocate _ -> allocated;
      case Decision.Wait _ -> waits;
      case Decision.Refuse _ -> refused;
      case Decision.Nothing _,Decision.LeaveToScheduler _,Decision.Settled _,Decision.ClaimMissing _,Decision.HeldBack _ ->
          other;
    }).record(Duration.ofNanos(System.nanoTime() - start));
    return decision;
  }

  @Override
  public void forgetSearches() {
    decider.forgetSearches();
  }

  private static Timer timer(MeterRegistry registry, String outcome) {
    return Timer.builder("partita.decision").description("How long a decision about a pod took.")
        .tag("outcome", outcome).serviceLevelObjectives(BUCKETS).register(registry);
  }
}
