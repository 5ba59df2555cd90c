package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.Lab;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each fault of a cluster strikes while one pod holds a share, another one's is being prepared, and a third one's is being
 * released: the first keeps what it has, the second gets what it asked for, of the third nothing stays. What became of each
 * is printed as a table. Faults of the plugin alone, at every step of a claim, are tested in kubelet-plugin.
 */
@OnRealCluster
@Isolated("it kills daemons that every other test needs")
class FaultTableIT {
  private static final List<String> ROWS = Collections.synchronizedList(new ArrayList<>());

  /** What strikes. */
  enum Fault {
    PLUGIN_KILLED(scene -> scene.kill(new Daemons(scene.cluster.client()).awaitPlugin(scene.node).getMetadata().getUid())),
    CONTROLLERS_KILLED(scene -> new Controllers(scene.cluster).ready().forEach(new Controllers(scene.cluster)::kill)),
    KUBELET_KILLED(scene -> scene.lab().restart(scene.node + ".kubelet")),
    CONTAINERD_KILLED(scene -> scene.lab().restart(scene.node + ".containerd")),
    API_SERVER_KILLED(scene -> scene.lab().restart("apiserver")),
    ETCD_KILLED(scene -> scene.lab().restart("etcd")),
    SCHEDULER_KILLED(scene -> scene.lab().restart("scheduler")),
    CONTROLLER_MANAGER_KILLED(scene -> scene.lab().restart("kcm")),
    CDI_FOLDER_WIPED(scene -> scene.cluster.files().shell(scene.node, "rm -f /var/run/cdi/*")),
    POD_DELETED_BY_FORCE(scene -> scene.workspace.client().pods().inNamespace(scene.workspace.namespace()).withName("going").withGracePeriod(0).delete());

    private final Consumer<Scene> strike;

    Fault(Consumer<Scene> strike) {
      this.strike = strike;
    }
  }

  private record Scene(RealCluster cluster, Workspace workspace, String node) {
    Lab lab() {
      return cluster.lab().orElseThrow();
    }

    void kill(String podUid) {
      cluster.files().signal(node, podUid, "KILL");
    }

    void awaitAnswers() {
      await("the cluster to answer").atMost(Workspace.PATIENCE).ignoreExceptions().until(() -> cluster.files().shell(node, "echo back"), "back"::equals);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsHeldStaysWhatIsAskedForComesAndWhatIsReleasedGoes(Fault fault, RealCluster cluster, Workspace workspace) {
    Assumptions.assumeTrue(cluster.lab().isPresent(), "Kubernetes' own daemons can be killed on a lab only");
    Scene scene = new Scene(cluster, workspace, cluster.brokenNode());
    String row = "%-26s %-28s %-9s %s";
    try {
      PodUnderTest holding = workspace.pod("holding", scene.node(), Ask.share("2Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
      PodUnderTest going = workspace.pod("going", scene.node(), Ask.share("2Gi"), "exec sleep 600").awaitRunning();
      List<String> claims = new ArrayList<>(Stream.of(holding, going).map(pod -> pod.claim().uid()).toList());
      PodUnderTest coming = workspace.pod("coming", scene.node(), Ask.share("2Gi"), "partita-probe alloc 1Gi");
      workspace.client().pods().inNamespace(workspace.namespace()).withName("going").withGracePeriod(1).delete();
      fault.strike.accept(scene);
      scene.awaitAnswers();

      claims.add(coming.claim().uid());
      assertThat(coming.awaitLog()).as("what is being prepared").contains("CUDA_SUCCESS");
      going.awaitGone();
      assertThat(holding.phase()).isEqualTo("Running");
      assertThat(holding.log()).as("the container that was there all along").contains("holding");
      assertThat(holding.exec("partita-probe alloc 3Gi")).as("what is held").contains("OUT_OF_MEMORY");
      holding.deleteAndAwait();
      coming.deleteAndAwait();
      await("traces on " + scene.node())
          .atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(claims.stream().map(uid -> cluster.files().tracesOf(uid, scene.node())).filter(traces -> !traces.isEmpty())).isEmpty());
      workspace.pod("all-of-the-node", scene.node(), Ask.wholeCards(RealCluster.CARDS), "true").awaitLog();
      ROWS.add(row.formatted(fault, "prepared, preparing, releasing", "yes", "nothing"));
    } catch (RuntimeException | AssertionError failure) {
      ROWS.add(row.formatted(fault, "prepared, preparing, releasing", "NO", String.valueOf(failure.getMessage()).lines().findFirst().orElse("")));
      throw failure;
    }
  }

  @AfterAll
  static void print() {
    System.out.println("%-26s %-28s %-9s %s".formatted("fault", "step of three claims", "survived", "leaked"));
    ROWS.forEach(System.out::println);
  }
}
