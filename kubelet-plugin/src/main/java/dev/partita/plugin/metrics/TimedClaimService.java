package dev.partita.plugin.metrics;

import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/**
 * Times what kubelet asks for: {@code partita_prepare_seconds} and {@code partita_unprepare_seconds}, one observation a
 * claim, each with how long its whole call took.
 */
public final class TimedClaimService implements ClaimService {
  private static final Duration[] BUCKETS = {Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(20),
    Duration.ofMillis(50), Duration.ofMillis(100), Duration.ofMillis(500), Duration.ofSeconds(1),
    Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(20), Duration.ofSeconds(45)};

  private final ClaimService claims;
  private final Timer prepared;
  private final Timer notPrepared;
  private final Timer released;
  private final Timer notReleased;

  public TimedClaimService(ClaimService claims, MeterRegistry registry) {
    this.claims = claims;
    this.prepared = timer(registry, "partita.prepare", "ok");
    this.notPrepared = timer(registry, "partita.prepare", "failed");
    this.released = timer(registry, "partita.unprepare", "ok");
    this.notReleased = timer(registry, "partita.unprepare", "failed");
  }

  @Override
  public Map<ClaimRef, Outcome> prepare(Collection<ClaimRef> asked) {
    long start = System.nanoTime();
    Map<ClaimRef, Outcome> outcomes = claims.prepare(asked);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    outcomes.values().forEach(outcome -> (switch (outcome) {
      case Ready _ -> prepared;
      case Failed _ -> notPrepared;
    }).record(took));
    return outcomes;
  }

  @Override
  public Map<ClaimRef, Optional<String>> unprepare(Collection<ClaimRef> asked) {
    long start = System.nanoTime();
    Map<ClaimRef, Optional<String>> outcomes = claims.unprepare(asked);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    outcomes.values().forEach(problem -> (problem.isEmpty() ? released : notReleased).record(took));
    return outcomes;
  }

  private static Timer timer(MeterRegistry registry, String name, String outcome) {
    return Timer.builder(name).description("How long kubelet waited for a claim.").tag("outcome", outcome)
        .serviceLevelObjectives(BUCKETS).register(registry);
  }
}
