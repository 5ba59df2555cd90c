package dev.partita.controller.metrics;

import dev.partita.controller.admission.AdmissionRequest;
import dev.partita.controller.admission.Verdict;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.Function;

/** Times admission reviews, by what came out: {@code partita_admission_seconds}. */
final class TimedReview implements Function<AdmissionRequest, Verdict> {
  private static final Duration[] BUCKETS = {Duration.ofNanos(200_000), Duration.ofMillis(1), Duration.ofMillis(5),
    Duration.ofMillis(20), Duration.ofMillis(100), Duration.ofSeconds(1), Duration.ofSeconds(5)};

  private final Function<AdmissionRequest, Verdict> review;
  private final Timer allowed;
  private final Timer changed;
  private final Timer invalid;
  private final Timer forbidden;
  private final Timer failed;

  /** @param name the review's, as its label has it */
  TimedReview(String name, Function<AdmissionRequest, Verdict> review, MeterRegistry registry) {
    this.review = review;
    this.allowed = timer(registry, name, "allowed");
    this.changed = timer(registry, name, "changed");
    this.invalid = timer(registry, name, "invalid");
    this.forbidden = timer(registry, name, "forbidden");
    this.failed = timer(registry, name, "failed");
  }

  @Override
  public Verdict apply(AdmissionRequest request) {
    long start = System.nanoTime();
    Timer timer = failed;
    try {
      Verdict verdict = review.apply(request);
      timer = switch (verdict) {
        case Verdict.Allowed _ -> allowed;
        case Verdict.Changed _ -> changed;
        case Verdict.Invalid _ -> invalid;
        case Verdict.Forbidden _ -> forbidden;
      };
      return verdict;
    } finally {
      timer.record(Duration.ofNanos(System.nanoTime() - start));
    }
  }

  private static Timer timer(MeterRegistry registry, String review, String outcome) {
    return Timer.builder("partita.admission").description("How long an admission review took.")
        .tag("review", review).tag("outcome", outcome).serviceLevelObjectives(BUCKETS).register(registry);
  }
}
