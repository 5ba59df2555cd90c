package dev.partita.controller.history;

import static dev.partita.controller.Cluster.eventually;

import dev.partita.controller.Cluster;
import dev.partita.controller.HeldClock;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.fleet.Totals;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HistoryKeeperTest {
  private final Cluster cluster = Cluster.empty();
  private final HeldClock clock = new HeldClock(Instant.parse("2026-01-01T02:00:00Z"));
  private final History history = new History();
  private final HistoryStore store = new HistoryStore(cluster.client, "partita", clock, history);

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void whatIsSampledAfterAClockThatWasAheadIsPutRightIsStored() {
    cluster.client.resource(new ConfigMapBuilder().withNewMetadata().withNamespace("partita")
        .withName(HistoryStore.NAME).endMetadata().build()).create();
    try (HistoryKeeper keeper = new HistoryKeeper(new ApiEdge(() -> true), store)) {
      keeper.start();
      sampled();
      awaitStored();
      clock.advance(Duration.ofHours(-2));
      sampled();
      awaitStored();
    }
  }

  private void sampled() {
    history.add(new Sample(clock.instant().getEpochSecond(), new Totals(1, 1, 2, 2, 3, 2, 1, 200, 100, 50), 0));
  }

  private void awaitStored() {
    eventually().until(() -> store.read().orElseThrow().samples().stream().map(Sample::at).toList(),
        List.of(clock.instant().getEpochSecond())::equals);
  }
}
