package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The doctor on a cluster that is well. */
@OnRealCluster
@Isolated("it looks at all nodes, of which other tests break some")
class DoctorIT {
  @Test
  void theDoctorFindsNothingWrong(RealCluster cluster) {
    await("every node to be well").atMost(Workspace.PATIENCE).untilAsserted(() -> {
      Outcome outcome = cluster.kubectlPartita("doctor");
      assertThat(outcome.status()).as(outcome.out() + outcome.err()).isZero();
      assertThat(outcome.out()).contains("ok    Kubernetes version", "ok    DRA API", "ok    controller that leads",
          "ok    webhooks", "ok    policies", "ok    node plugin", "ok    published cards", "ok    clock of the node",
          "ok    driver", "ok    feature gates", "ok    container runtime", "ok    clock of this machine", "ok    CDI",
          "ok    CDI hook", "ok    rights of Partita", "ok    your rights")
          .containsPattern("(ok|warn)  +cgroups.*: version [12]")
          .contains("\n0 failed");
    });
  }
}
