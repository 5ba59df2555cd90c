package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Scrape;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Taints that an administrator puts on cards by Kubernetes' own DeviceTaintRules. */
@OnRealCluster
@DependsOnVersion
@OnSettingsNode
class DeviceTaintRuleIT {
  /** The newest first: of 1.37, and of 1.36 where it is switched on. */
  private static final List<String> APIS = List.of("resource.k8s.io/v1", "resource.k8s.io/v1beta2");
  private static final String KIND = "DeviceTaintRule";

  @Test
  @NeedsSteadyController // while none leads, none can say why a pod waits
  void aRuleKeepsClaimsOffCardsAndEndsPodsOnThemAndClaimsComeBackWhenItIsGone(
      RealCluster cluster,
      Workspace workspace) {
    Optional<String> served = APIS.stream().filter(api -> cluster.serves(api, KIND)).findFirst();
    assumeThat(served).as("Kubernetes 1.37 or newer, or 1.36 that serves the kind").isPresent();
    String api = served.orElseThrow();
    String node = cluster.settingsNode();
    new Daemons(cluster.client()).awaitFreeCards(node);
    String name = workspace.namespace() + "-away";
    Resource<GenericKubernetesResource> rule =
        cluster.client().genericKubernetesResources(api, KIND).withName(name);
    PodUnderTest runs = workspace.pod("runs", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();

    workspace.createInCluster(yaml(api, name, node, "NoSchedule"));
    awaitKnown(cluster, workspace, api);
    PodUnderTest waits = workspace.pod("waits", node, Ask.share("8Gi"), "exec sleep 600");
    awaitSaid(workspace, "waits", "taint example.com/rack=7 of the DeviceTaintRule " + name);
    assertThat(
        cluster.command().run(cluster.kubeconfigEnvironment(), "explain", "pod", "waits", "-n", workspace.namespace())
            .out())
        .contains("gpu-0  taint example.com/rack=7 of the DeviceTaintRule " + name);
    assertThat(runs.phase()).as("NoSchedule ends nobody").isEqualTo("Running");
    workspace.pod("tolerates", node, Ask.share("8Gi").tolerating("example.com/rack"), "exec sleep 600").awaitRunning()
        .deleteAndAwait();

    rule.delete();
    waits.awaitRunning();
    waits.deleteAndAwait();

    workspace.createInCluster(yaml(api, name, node, "NoExecute"));
    runs.awaitGone();
    PodUnderTest next = workspace.pod("next", node, Ask.share("8Gi"), "exec sleep 600");
    awaitSaid(workspace, "next", "taint example.com/rack=7 of the DeviceTaintRule " + name);
    rule.delete();
    next.awaitRunning().deleteAndAwait();
  }

  /**
   * Waits until the controller has seen all rules in each version that it follows: events of rules and of pods come in
   * any order.
   */
  private static void awaitKnown(RealCluster cluster, Workspace workspace, String api) {
    String token = workspace.metricsReader();
    long versions = APIS.stream().filter(each -> cluster.serves(each, KIND)).count();
    await("the controller to see the rule").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(Scrape.ofController(cluster.client(), token)
            .value("partita_controller_watched_objects", "kind=\"" + KIND + "\""))
            .contains((double) versions
                * cluster.client().genericKubernetesResources(api, KIND).list().getItems().size()));
  }

  /** Waits until the pod's conditions hold this. */
  private static void awaitSaid(Workspace workspace, String pod, String part) {
    await("a condition of pod " + pod + " with: " + part).atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(workspace.client().pods().inNamespace(workspace.namespace()).withName(pod).get()
            .getStatus().getConditions()).anyMatch(condition -> String.valueOf(condition.getMessage()).contains(part)));
  }

  private static String yaml(String api, String name, String node, String effect) {
    return """
        {apiVersion: %s, kind: %s, metadata: {name: %s}, spec: {
          deviceSelector: {driver: gpu.partita.dev, pool: %s/gpu},
          taint: {key: example.com/rack, value: "7", effect: %s}}}
        """.formatted(api, KIND, name, node, effect);
  }
}
