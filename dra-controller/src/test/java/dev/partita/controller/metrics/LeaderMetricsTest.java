package dev.partita.controller.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.headroom.Headroom;
import dev.partita.serving.metrics.Samples;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class LeaderMetricsTest {
  @Test
  void whatWouldFitIsNotAskedForAnyMoreOnceNobodyWaitsForIt() {
    CompletableFuture<SortedMap<String, Headroom>> unanswered = new CompletableFuture<>();
    LeaderMetrics.Leader busy = new LeaderMetrics.Leader() {
      @Override
      public CompletionStage<SortedMap<String, Headroom>> headroom() {
        return unanswered;
      }

      @Override
      public Map<String, Integer> queueLengths() {
        return Map.of();
      }
    };
    new LeaderMetrics(() -> Optional.of(busy)).collect(new Samples());
    assertThat(unanswered).isCancelled();
  }
}
