package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.HelmRelease;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Helm upgrades the chart, which replaces the controllers, and the plugins of all nodes. */
@OnRealCluster
@Isolated("it replaces the controllers, and the plugins of all nodes")
class UpgradeIT {
  @Test
  void noPodThatStartsMeanwhileIsRefused(RealCluster cluster, Workspace workspace, @TempDir Path folder)
      throws Exception {
    Daemons daemons = new Daemons(cluster.client());
    PodUnderTest lasting =
        workspace.pod("lasting", cluster.quietNodes().getFirst(), Ask.share("3Gi"), "exec partita-probe hold 1Gi");
    lasting.awaitLine("holding");
    AtomicBoolean done = new AtomicBoolean();
    try (ExecutorService users = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> served = new ArrayList<>();
      for (String node : cluster.quietNodes()) {
        served.add(users.submit(() -> podsOneAfterTheOther(workspace, node, done)));
      }
      try {
        List<String> before = daemons.pluginUids();
        new HelmRelease(cluster).upgrade(folder, "0.2.0");
        await("every node to have another plugin, and no former one")
            .atMost(Workspace.PATIENCE)
            .until(() -> daemons.haveBeenReplaced(before));
      } finally {
        done.set(true);
      }
      for (Future<Integer> each : served) {
        assertThat(each.get()).as("pods of a node that came, ran and went").isGreaterThan(1);
      }
    }
    assertThat(workspace.events())
        .extracting(Workspace.EventLine::reason)
        .contains("Prepared")
        .doesNotContain("FailedPrepareDynamicResources");
    assertThat(lasting.exec("partita-probe alloc 3Gi; partita-probe alloc 512Mi"))
        .containsSubsequence("OUT_OF_MEMORY", "CUDA_SUCCESS");
  }

  /** How many pods ran on the node until then, and once more. */
  private static int podsOneAfterTheOther(Workspace workspace, String node, AtomicBoolean done) {
    int ran = 0;
    boolean last;
    do {
      last = done.get();
      PodUnderTest pod = workspace.pod(node + "-" + ran, node, Ask.share("1Gi"), "partita-probe alloc 256Mi");
      assertThat(pod.awaitLog()).contains("CUDA_SUCCESS");
      pod.deleteAndAwait();
      ran++;
    } while (!last);
    return ran;
  }
}
