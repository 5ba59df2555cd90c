package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.LastDay;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What a controller sampled outlives it. */
@OnRealCluster
@ChangesControllers
class LastDayIT {
  @Test
  void aControllerThatTakesAnothersPlaceShowsWhatThatOneSampled(RealCluster cluster)
      throws IOException, InterruptedException {
    LastDay lastDay = new LastDay(cluster.client());
    Controllers controllers = new Controllers(cluster);
    Pod former = controllers.awaitLeader();
    Instant stored = lastDay.awaitStored().getFirst();
    new Daemons(cluster.client()).killControllers();
    controllers.awaitAnotherLeader(former);
    Pod next = controllers.awaitLeader();
    Instant made = Instant.parse(next.getMetadata().getCreationTimestamp());
    assertThat(stored).isBefore(made);
    assertThat(lastDay.shownBy(next)).as("of a controller that was made at " + made).anyMatch(at -> at.isBefore(made));
  }
}
