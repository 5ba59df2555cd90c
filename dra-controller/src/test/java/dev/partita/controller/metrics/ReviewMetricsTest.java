package dev.partita.controller.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.partita.controller.admission.AdmissionRequest;
import dev.partita.controller.admission.Verdict;
import dev.partita.serving.metrics.Metrics;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReviewMetricsTest {
  private static final AdmissionRequest REQUEST = new AdmissionRequest("uid", "", "pods", "CREATE", "default",
      JsonNodeFactory.instance.missingNode(), JsonNodeFactory.instance.missingNode());

  private final Metrics metrics = new Metrics();

  @Test
  void reviewsAreCountedByWhatCameOut() {
    ReviewMetrics reviews = new ReviewMetrics(metrics.registry());
    var _ = reviews.watched("validate", asked -> new Verdict.Forbidden("no", List.of())).apply(REQUEST);
    assertThatThrownBy(() -> reviews.watched("validate", asked -> {
      throw new IllegalStateException("broken");
    }).apply(REQUEST)).hasMessage("broken");
    var _ = reviews
        .watched("mutate-pods", asked -> new Verdict.Changed(JsonNodeFactory.instance.arrayNode(), List.of()))
        .apply(REQUEST);
    assertThat(metrics.text()).contains("partita_admission_seconds_count{outcome=\"forbidden\",review=\"validate\"} 1",
        "partita_admission_seconds_count{outcome=\"failed\",review=\"validate\"} 1",
        "partita_admission_seconds_count{outcome=\"allowed\",review=\"validate\"} 0",
        "partita_admission_seconds_count{outcome=\"changed\",review=\"mutate-pods\"} 1");
  }

  @Test
  void requestsWithoutAVerdictAreCountedByTheirStatus() {
    ReviewMetrics reviews = new ReviewMetrics(metrics.registry());
    reviews.unreviewed(413);
    reviews.unreviewed(503);
    reviews.unreviewed(413);
    assertThat(metrics.text()).contains("partita_admission_unreviewed_total{status=\"413\"} 2",
        "partita_admission_unreviewed_total{status=\"503\"} 1");
  }
}
