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
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each fault of a cluster strikes while one pod holds a share, another one's is being prepared, and a third one's is
 * being released: the first keeps what it has, the second gets what it asked for, of the third nothing stays. What
 * became of each is printed as a table. Faults of the plugin alone, at every step of a claim, are tested in
 * kubelet-plugin.
 */
@OnRealCluster
@Isolated("it kills daemons that every other test needs")
class FaultTableIT {
  private static final List<String> ROWS = Collections.synchronizedList(new ArrayList<>());

  /** What strikes. */
  enum Fault {
    PLUGIN_KILLED,
    CONTROLLERS_KILLED,
    KUBELET_KILLED,
    CONTAINERD_KILLED,
    API_SERVER_KILLED,
    ETCD_KILLED,
    SCHEDULER_KILLED,
    CONTROLLER_MANAGER_KILLED,
    CDI_FOLDER_WIPED,
    POD_DELETED_BY_FORCE
  }

  private record Scene(RealCluster cluster, Workspace workspace, String node) {
    Lab lab() {
      return cluster.lab().orElseThrow();
    }

    void strike(Fault fault) {
      switch (fault) {
        case PLUGIN_KILLED -> {
          String plugin = new Daemons(cluster.client()).awaitPlugin(node).getMetadata().getUid();
          cluster.files().signal(node, plugin, "KILL");
        }
        case CONTROLLERS_KILLED -> {
          Controllers controllers = new Controllers(cluster);
          controllers.ready().forEach(controllers::kill);
        }
        case KUBELET_KILLED -> lab().restart(node + ".kubelet");
        case CONTAINERD_KILLED -> lab().restart(node + ".containerd");
        case API_SERVER_KILLED -> lab().restart("apiserver");
        case ETCD_KILLED -> lab().restart("etcd");
        case SCHEDULER_KILLED -> lab().restart("scheduler");
        case CONTROLLER_MANAGER_KILLED -> lab().restart("kcm");
        case CDI_FOLDER_WIPED -> cluster.files().shell(node, "rm -f /var/run/cdi/*");
        case POD_DELETED_BY_FORCE -> delete("going", 0);
      }
    }

    void delete(String pod, long grace) {
      workspace.client().pods().inNamespace(workspace.namespace()).withName(pod).withGracePeriod(grace).delete();
    }

    /** After a call that failed kubelet waits for up to 160 s unless the pod changes: so it is changed. */
    void awaitEnd(PodUnderTest pod) {
      await("pod " + pod.name() + " to end")
          .atMost(Workspace.PATIENCE)
          .pollInterval(Duration.ofSeconds(2))
          .until(
              () -> {
                String now = "{\"metadata\": {\"annotations\": {\"looked-at\": \"" + Instant.now() + "\"}}}";
                workspace.client().pods().inNamespace(workspace.namespace()).withName(pod.name())
                    .patch(PatchContext.of(PatchType.JSON_MERGE), now);
                return List.of("Succeeded", "Failed").contains(pod.phase());
              });
    }

    void awaitAnswers() {
      await("the cluster to answer").atMost(Workspace.PATIENCE).ignoreExceptions()
          .until(() -> cluster.files().shell(node, "echo back"), "back"::equals);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsHeldStaysWhatIsAskedForComesAndWhatIsReleasedGoes(Fault fault, RealCluster cluster, Workspace workspace) {
    Assumptions.assumeTrue(cluster.lab().isPresent(), "Kubernetes' own daemons can be killed on a lab only");
    Scene scene = new Scene(cluster, workspace, cluster.brokenNode());
    String row = "%-26s %-31s %-9s %s";
    try {
      PodUnderTest holding =
          workspace.pod("holding", scene.node(), Ask.share("2Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
      PodUnderTest going = workspace.pod("going", scene.node(), Ask.share("2Gi"), "exec sleep 600").awaitRunning();
      List<String> claims = new ArrayList<>(Stream.of(holding, going).map(pod -> pod.claim().uid()).toList());
      PodUnderTest coming = workspace.pod("coming", scene.node(), Ask.share("2Gi"), "partita-probe alloc 1Gi");
      scene.delete("going", 1);
      scene.strike(fault);
      scene.awaitAnswers();

      claims.add(coming.claim().uid());
      scene.awaitEnd(coming);
      assertThat(coming.awaitLog()).as("what is being prepared").contains("CUDA_SUCCESS");
      going.awaitGone();
      assertThat(holding.phase()).isEqualTo("Running");
      assertThat(holding.log()).as("the container that was there all along").contains("holding");
      assertThat(holding.exec("partita-probe alloc 3Gi")).as("what is held").contains("OUT_OF_MEMORY");
      holding.deleteAndAwait();
      coming.deleteAndAwait();
      await("traces on " + scene.node())
          .atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(claims)
              .allSatisfy(uid -> assertThat(cluster.files().tracesOf(uid, scene.node())).isEmpty()));
      workspace.pod("all-of-the-node", scene.node(), Ask.wholeCards(RealCluster.CARDS), "true").awaitLog();
      ROWS.add(row.formatted(fault, "prepared, preparing, releasing", "yes", "nothing"));
    } catch (RuntimeException | AssertionError failure) {
      ROWS.add(row.formatted(fault, "prepared, preparing, releasing", "NO",
          String.valueOf(failure.getMessage()).lines().findFirst().orElse("")));
      throw failure;
    }
  }

  @AfterAll
  static void print() {
    System.out.println("%-26s %-31s %-9s %s".formatted("fault", "step of three claims", "survived", "leaked"));
    ROWS.forEach(System.out::println);
  }
}
