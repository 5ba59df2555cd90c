package dev.partita.controller.metrics;

import dev.partita.controller.admission.AdmissionRequest;
import dev.partita.controller.admission.ReviewWatch;
import dev.partita.controller.admission.Verdict;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Function;

/**
 * Times admission reviews, and counts requests that could not be reviewed, by the HTTP status that says why:
 * {@code partita_admission_unreviewed_total}.
 */
public final class ReviewMetrics implements ReviewWatch {
  private final MeterRegistry registry;

  public ReviewMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public Function<AdmissionRequest, Verdict> watched(String name, Function<AdmissionRequest, Verdict> review) {
    return new TimedReview(name, review, registry);
  }

  @Override
  public void unreviewed(int status) {
    Counter.builder("partita.admission.unreviewed").description("Requests to the webhook that could not be reviewed.")
        .tag("status", String.valueOf(status)).register(registry).increment();
  }
}
