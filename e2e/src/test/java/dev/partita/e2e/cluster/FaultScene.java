package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * One pod that holds a share, another one whose share is being prepared, and a third one whose share is being released,
 * while a fault strikes.
 *
 * @param node which these pods have for themselves
 */
public record FaultScene(RealCluster cluster, Workspace workspace, String node) {
  /** What strikes. */
  public enum Fault {
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

  /**
   * Has the fault strike. Fails unless the first pod keeps what it has, the second gets what it asked for, and nothing
   * stays of the third.
   */
  public void survives(Fault fault) {
    PodUnderTest holding =
        workspace.pod("holding", node, Ask.share("2Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
    PodUnderTest going = workspace.pod("going", node, Ask.share("2Gi"), "exec sleep 600").awaitRunning();
    List<String> claims = new ArrayList<>(Stream.of(holding, going).map(pod -> pod.claim().uid()).toList());
    PodUnderTest coming = workspace.pod("coming", node, Ask.share("2Gi"), "partita-probe alloc 1Gi");
    claims.add(coming.claim().uid()); // when the pod has ended, the claim goes
    delete("going", 1);
    strike(fault);
    awaitAnswers();

    awaitEnd(coming);
    assertThat(coming.awaitLog()).as("what is being prepared").contains("CUDA_SUCCESS");
    going.awaitGone();
    assertThat(holding.phase()).isEqualTo("Running");
    assertThat(holding.log()).as("the container that was there all along").contains("holding");
    assertThat(holding.exec("partita-probe alloc 3Gi")).as("what is held").contains("OUT_OF_MEMORY");
    holding.deleteAndAwait();
    coming.deleteAndAwait();
    await("traces on " + node)
        .atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(claims)
            .allSatisfy(uid -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty()));
    workspace.pod("all-of-the-node", node, Ask.wholeCards(RealCluster.CARDS), "true").awaitLog();
  }

  private Lab lab() {
    return cluster.lab().orElseThrow();
  }

  private void strike(Fault fault) {
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

  private void delete(String pod, long grace) {
    workspace.client().pods().inNamespace(workspace.namespace()).withName(pod).withGracePeriod(grace).delete();
  }

  /** After a call that failed kubelet waits for up to 160 s unless the pod changes: so it is changed. */
  private void awaitEnd(PodUnderTest pod) {
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

  private void awaitAnswers() {
    await("the cluster to answer").atMost(Workspace.PATIENCE).ignoreExceptions()
        .until(() -> cluster.files().shell(node, "echo back"), "back"::equals);
  }
}
