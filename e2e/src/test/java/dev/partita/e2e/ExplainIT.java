package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.TokenClient;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Why a pod waits: in its condition, and in full by {@code partita explain}. */
@OnRealCluster
class ExplainIT {
  private static final String CONDITION = "gpu.partita.dev/Allocated";

  private static Pod pod(Workspace workspace, String name) {
    return workspace.client().pods().inNamespace(workspace.namespace()).withName(name).get();
  }

  private static Optional<PodCondition> condition(Workspace workspace, String name) {
    return pod(workspace, name).getStatus().getConditions().stream().filter(c -> CONDITION.equals(c.getType()))
        .findFirst();
  }

  private static PodCondition awaitWaiting(Workspace workspace, String name) {
    return await("condition " + CONDITION + " of pod " + name)
        .atMost(Workspace.PATIENCE)
        .until(() -> condition(workspace, name), c -> c.filter(shown -> "False".equals(shown.getStatus())).isPresent())
        .orElseThrow();
  }

  private static Outcome explain(RealCluster cluster, String... arguments) {
    return cluster.command().run(cluster.kubeconfigEnvironment(), arguments);
  }

  @Test
  @NeedsSteadyController // while none leads, none can say
  void aPodThatWaitsSaysWhyAndTheCommandSaysItNodeByNodeAndCardByCard(RealCluster cluster, Workspace workspace) {
    String node = cluster.nodes().getFirst();
    workspace.pod("huge", node, Ask.share("900Gi"), "true");
    assertThat(awaitWaiting(workspace, "huge").getMessage()).contains("asks 900 GiB").contains("asked 900 GiB");
    Outcome said = explain(cluster, "explain", "pod", "huge", "-n", workspace.namespace());
    assertThat(said.status()).as(said.err()).isZero();
    assertThat(said.out()).startsWith("pod " + workspace.namespace() + "/huge is waiting: asks 900 GiB")
        .contains("\n" + node + " (4 cards): claim ");
    for (int card = 0; card < RealCluster.CARDS; card++) {
      assertThat(said.out()).containsPattern("(?m)^  gpu-" + card + "  has .*, asked 900 GiB$");
    }
    List<String> others = cluster.nodes().subList(1, cluster.nodes().size());
    assertThat(said.out()).contains(others);
    Outcome none = explain(cluster, "explain", "pod", "none", "-n", workspace.namespace());
    assertThat(none.status()).isEqualTo(1);
    assertThat(none.err()).contains("there is no pod " + workspace.namespace() + "/none");
  }

  @Test
  @NeedsSteadyController // the token is for a pod of theirs
  void theControllersRightToPatchPodStatusEndsWithItsCondition(RealCluster cluster, Workspace workspace) {
    workspace.pod("victim", cluster.nodes().getFirst(), Ask.share("900Gi"), "true");
    awaitWaiting(workspace, "victim");
    Pod controller =
        cluster.client().pods().inNamespace(RealCluster.NAMESPACE).withLabel("app.kubernetes.io/name", "dra-controller")
            .list().getItems().getFirst();
    try (KubernetesClient stolen = TokenClient.ofPod(cluster.client(), controller)) {
      for (String patch : new String[]{
        "{\"status\": {\"phase\": \"Failed\"}}",
        "{\"status\": {\"podIP\": \"10.1.2.3\", \"podIPs\": [{\"ip\": \"10.1.2.3\"}]}}",
        "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}"
      }) {
        assertThatThrownBy(() -> patchStatus(stolen, workspace, patch))
            .as(patch)
            .isInstanceOfSatisfying(KubernetesClientException.class,
                refused -> assertThat(refused.getCode()).isIn(403, 422));
      }
      patchStatus(stolen, workspace,
          "{\"status\": {\"conditions\": [{\"type\": \"" + CONDITION + "\", \"status\": \"Unknown\"}]}}");
    }
  }

  private static void patchStatus(KubernetesClient client, Workspace workspace, String patch) {
    client.pods().inNamespace(workspace.namespace()).withName("victim").subresource("status")
        .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
  }
}
