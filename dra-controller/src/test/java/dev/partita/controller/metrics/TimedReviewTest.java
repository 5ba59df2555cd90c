package dev.partita.controller.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.partita.controller.admission.AdmissionRequest;
import dev.partita.controller.admission.Verdict;
import dev.partita.serving.metrics.Metrics;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimedReviewTest {
  private static final AdmissionRequest REQUEST = new AdmissionRequest("uid", "", "pods", "CREATE", "default",
      JsonNodeFactory.instance.missingNode(), JsonNodeFactory.instance.missingNode());

  private final Metrics metrics = new Metrics();

  @Test
  void reviewsAreCountedByWhatCameOut() {
    new TimedReview("validate", asked -> new Verdict.Forbidden("no", List.of()), metrics.registry()).apply(REQUEST);
    assertThatThrownBy(() -> new TimedReview("validate", asked -> {
      throw new IllegalStateException("broken");
    }, metrics.registry()).apply(REQUEST)).hasMessage("broken");
    new TimedReview("mutate-pods", asked -> new Verdict.Changed(JsonNodeFactory.instance.arrayNode(), List.of()),
        metrics.registry()).apply(REQUEST);
    assertThat(metrics.text()).contains("partita_admission_seconds_count{outcome=\"forbidden\",review=\"validate\"} 1",
        "partita_admission_seconds_count{outcome=\"failed\",review=\"validate\"} 1",
        "partita_admission_seconds_count{outcome=\"allowed\",review=\"validate\"} 0",
        "partita_admission_seconds_count{outcome=\"changed\",review=\"mutate-pods\"} 1");
  }
}
