package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.Test;

/** No controller is there, as API servers and users see it. */
@OnRealCluster
@ChangesControllers
class NoControllerIT {
  @Test
  void aPodThatIsMadeWhileNoControllerAnswersIsToldToBeMadeAnew(RealCluster cluster, Workspace workspace) {
    Controllers controllers = new Controllers(cluster);
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("no controllers", () -> controllers.scale(1));
      controllers.scale(0);
      workspace.podAsking("passed", cluster.quietNodes().getFirst(), "{nvidia.com/gpu: 1}", "true");
    }

    assertThat(workspace.awaitEvent("Pod", "passed", "NotConverted").message())
        .contains("asks for nvidia.com/gpu, which no node has", "Make it anew");
  }
}
