package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.RollingUpdateDaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicySpec;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetSpec;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the chart says to clusters with rules of their own, and how it is upgraded there. */
class InstallationChartTest {
  /** The next plugin of a node registers before the one before it goes: they must not be in each other's way. */
  @Test
  void anUpgradeLeavesNoNodeWithoutAPlugin() {
    assertThat(rolling(Map.of()).getMaxUnavailable()).isEqualTo(new IntOrString(0));
    PodSpec plugin = Chart.plugin(Map.of());
    assertThat(plugin.getHostNetwork()).as("two on a node share no ports").isNotEqualTo(true);
    assertThat(plugin.getContainers().getFirst().getPorts())
        .allSatisfy(port -> assertThat(port.getHostPort()).isNull());
    assertThat(plugin.getContainers().getFirst().getEnv())
        .as("nor sockets")
        .anyMatch(variable -> variable.getName().equals("PARTITA_POD_UID"));
  }

  /** Where a taint drives the plugin away kubelet cannot end the node's pods with claims. */
  @Test
  void noTaintKeepsThePluginOffANodeOrDrivesItAway() {
    assertThat(Chart.plugin(Map.of()).getTolerations()).singleElement().satisfies(any -> {
      assertThat(any.getOperator()).isEqualTo("Exists");
      assertThat(any.getKey()).isNull();
      assertThat(any.getEffect()).isNull();
    });
  }

  /** It tolerates the taints that keep others off such nodes. */
  @Test
  void aNodeOnWhichThePluginCannotRunGetsNone() {
    assertThat(Chart.plugin(Map.of()).getAffinity().getNodeAffinity()
        .getRequiredDuringSchedulingIgnoredDuringExecution().getNodeSelectorTerms())
        .as("of several terms a node need match only one").singleElement().satisfies(
            term -> assertThat(term.getMatchExpressions())
                .allSatisfy(expression -> assertThat(expression.getOperator()).isEqualTo("NotIn"))
                .extracting(expression -> expression.getKey() + "=" + String.join(",", expression.getValues()))
                .containsExactly("gpu.partita.dev/plugin=disabled", "kubernetes.io/os=windows",
                    "type=virtual-kubelet", "eks.amazonaws.com/compute-type=fargate"));
  }

  /** A program that kubelet ends for being slow starts anew on a node that is busy already, and is slower. */
  @Test
  void aBusyNodeHasMinutesToStartAProgram() {
    assertThat(List.of(Chart.plugin(Map.of()), Chart.controller(Map.of()))).allSatisfy(pod -> {
      Probe startup = pod.getContainers().getFirst().getStartupProbe();
      assertThat(startup.getPeriodSeconds() * startup.getFailureThreshold()).isGreaterThanOrEqualTo(180);
    });
  }

  @Test
  void whatNobodyNeedsOfOurPodsIsClosed() {
    assertThat(ingress("kubelet-plugin", Map.of())).singleElement().satisfies(
        rule -> assertThat(rule.getPorts()).extracting(port -> port.getPort().getValue()).containsExactly("metrics"));
    assertThat(ingress("kubelet-plugin", Map.of("metrics.enabled", false))).isEmpty();
    assertThat(ingress("dra-controller", Map.of()))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getFrom()).as("API servers have no address that could be named").isEmpty();
              assertThat(rule.getPorts()).extracting(port -> port.getPort().getValue()).containsExactly("webhook",
                  "metrics");
            });
    assertThat(ingress("dra-controller", Map.of("webhook.enabled", false, "metrics.enabled", false))).isEmpty();
    assertThat(Chart.text(Map.of("networkPolicy.enabled", false))).doesNotContain("kind: NetworkPolicy");
  }

  /** What may come in to the pods of a component. */
  private static List<NetworkPolicyIngressRule> ingress(String component, Map<String, Object> values) {
    List<NetworkPolicySpec> its =
        Chart.rendered(values)
            .filter(NetworkPolicy.class::isInstance)
            .map(policy -> ((NetworkPolicy) policy).getSpec())
            .filter(spec -> spec.getPodSelector().getMatchLabels().containsValue(component))
            .toList();
    assertThat(its).singleElement().satisfies(spec -> assertThat(spec.getPolicyTypes()).containsExactly("Ingress"));
    return its.getFirst().getIngress();
  }

  @Test
  void controllersAreDrainedOneAfterTheOther() {
    Map<String, Object> two = Map.of("controller.replicas", 2);
    PodDisruptionBudgetSpec budget = only(PodDisruptionBudget.class, two).getSpec();
    assertThat(budget.getMaxUnavailable().getIntVal()).isOne();
    assertThat(budget.getUnhealthyPodEvictionPolicy()).isEqualTo("AlwaysAllow");
    assertThat(budget.getSelector()).isEqualTo(only(Deployment.class, two).getSpec().getSelector());
    assertThat(Chart.text(Map.of())).as("a single one may always go").doesNotContain("kind: PodDisruptionBudget");
  }

  @Test
  void aQuotaCoversThePriorityClassesOfOurPods() {
    var spec = only(ResourceQuota.class, Map.of()).getSpec();
    assertThat(spec.getHard()).containsOnlyKeys("pods");
    assertThat(spec.getScopeSelector().getMatchExpressions())
        .singleElement()
        .satisfies(
            expression -> {
              assertThat(expression.getScopeName()).isEqualTo("PriorityClass");
              assertThat(expression.getValues())
                  .contains(Chart.plugin(Map.of()).getPriorityClassName())
                  .contains(Chart.controller(Map.of()).getPriorityClassName());
            });
    assertThat(Chart.text(Map.of("priorityQuota.enabled", false))).doesNotContain("kind: ResourceQuota");
  }

  @Test
  void ourPodsHaveThePriorityClassesThatTheClusterAllows() {
    Map<String, Object> own = Map.of("plugin.priorityClassName", "nodes", "controller.priorityClassName", "platform");
    assertThat(Chart.plugin(own).getPriorityClassName()).isEqualTo("nodes");
    assertThat(Chart.controller(own).getPriorityClassName()).isEqualTo("platform");
    assertThat(only(ResourceQuota.class, own).getSpec().getScopeSelector().getMatchExpressions().getFirst().getValues())
        .containsExactly("nodes", "platform");
  }

  /** The one that runs serves the node until the next one is ready, so none is taken away for it. */
  @Test
  void anUpgradeStartsTheNextPluginOnATenthOfTheNodesAtATimeOrOnAsManyAsIsSaid() {
    assertThat(maxSurge(Map.of())).isEqualTo(new IntOrString("10%"));
    assertThat(maxSurge(Map.of("plugin.maxSurge", 3))).isEqualTo(new IntOrString(3));
    assertThat(maxSurge(Map.of("plugin.maxSurge", "100%"))).isEqualTo(new IntOrString("100%"));
    for (Object none : List.of(0, "0%", "101%", "ten")) {
      assertThatThrownBy(() -> maxSurge(Map.of("plugin.maxSurge", none))).hasMessageContaining("maxSurge");
    }
  }

  private static RollingUpdateDaemonSet rolling(Map<String, Object> values) {
    return only(DaemonSet.class, values).getSpec().getUpdateStrategy().getRollingUpdate();
  }

  private static IntOrString maxSurge(Map<String, Object> values) {
    return rolling(values).getMaxSurge();
  }

  /** As on Talos, whose /etc cannot be written, and k0s. */
  @Test
  void foldersOfTheNodeLieWhereTheClusterHasThem() {
    PodSpec plugin = Chart.plugin(Map.of("plugin.cardFiles", "", "plugin.cdiRoot", "/var/cdi", "plugin.kubeletRoot",
        "/var/lib/k0s/kubelet"));
    assertThat(folders(plugin)).contains("/var/cdi", "/var/lib/k0s/kubelet/plugins",
        "/var/lib/k0s/kubelet/plugins_registry", "/var/lib/k0s/kubelet/pod-resources")
        .noneMatch(folder -> folder.startsWith("/etc") || folder.startsWith("/var/run/cdi")
            || folder.startsWith("/var/lib/kubelet"));
    assertThat(Chart.environment(plugin).values()).noneMatch(value -> value.startsWith("/etc/partita"))
        .noneMatch(value -> value.startsWith("/var/run/cdi")).noneMatch(value -> value.startsWith("/var/lib/kubelet"));
    assertThat(folders(Chart.plugin(Map.of()))).contains("/etc/partita/cards.d", "/var/run/cdi");
  }

  private static List<String> folders(PodSpec pod) {
    return pod.getVolumes().stream().filter(volume -> volume.getHostPath() != null)
        .map(volume -> volume.getHostPath().getPath()).toList();
  }

  @Test
  void openShiftIsToldWhatThePluginNeedsAndOtherClustersAreNot() {
    assertThat(Chart.text(Map.of())).doesNotContain("openshift.io");
    assertThat(Chart.text(Map.of("openshift", true))).contains("name: system:openshift:scc:nonroot-v2}");
    assertThat(constraints(Map.of("openshift", true)))
        .containsEntry("allowPrivilegedContainer", true)
        .containsEntry("allowHostDirVolumePlugin", true)
        .containsEntry("allowHostPID", true)
        .containsEntry("users", List.of("system:serviceaccount:partita-system:partita-kubelet-plugin"));
    assertThat(constraints(Map.of("openshift", true, "simulation.enabled", true, "plugin.hostPID", false)))
        .containsEntry("allowPrivilegedContainer", false)
        .containsEntry("allowPrivilegeEscalation", false)
        .containsEntry("allowHostPID", false);
  }

  /** Whose pods have a user that is none of the range of their namespace. */
  @Test
  void openShiftLetsEveryProgramOfOursHaveItsUser(@TempDir Path folder) throws IOException {
    List<HasMetadata> objects = Chart.renderedWithHooks(folder, Map.of("openshift", true)).toList();
    Set<String> accounts =
        objects.stream().map(InstallationChartTest::pod).flatMap(Optional::stream)
            .filter(pod -> pod.getSecurityContext() != null && pod.getSecurityContext().getRunAsUser() != null)
            .map(PodSpec::getServiceAccountName).collect(Collectors.toSet());
    assertThat(accounts).containsExactlyInAnyOrder("partita-dra-controller", "partita-uninstall");
    List<RoleBinding> bindings =
        objects.stream().filter(RoleBinding.class::isInstance).map(RoleBinding.class::cast)
            .filter(binding -> binding.getRoleRef().getName().equals("system:openshift:scc:nonroot-v2")).toList();
    assertThat(bindings).flatExtracting(RoleBinding::getSubjects).extracting(Subject::getName)
        .containsExactlyInAnyOrderElementsOf(accounts);
    assertThat(bindings).filteredOn(binding -> binding.getSubjects().getFirst().getName().equals("partita-uninstall"))
        .as("it is there only while the hook runs, and before the Job").singleElement().satisfies(
            binding -> assertThat(binding.getMetadata().getAnnotations())
                .containsEntry("shown/hook", "pre-delete").containsEntry("shown/hook-weight", "0"));
  }

  /** Nodes of another processor, for one, may have no image of it. What holds controllers apart is not for the Job. */
  @Test
  void theJobBeforeAnUninstallationRunsOnNodesOfControllers(@TempDir Path folder) throws IOException {
    String affinity = "controller.affinity.";
    Map<String, Object> values = Map.of("controller.nodeSelector.pool", "system",
        affinity + "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
            + ".matchExpressions[0].key",
        "kubernetes.io/arch",
        affinity + "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
        "kubernetes.io/hostname");
    List<PodSpec> pods =
        Chart.renderedWithHooks(folder, values).map(InstallationChartTest::pod).flatMap(Optional::stream).toList();
    assertThat(pods).hasSize(2).allSatisfy(pod -> {
      assertThat(pod.getNodeSelector()).containsEntry("pool", "system");
      assertThat(pod.getAffinity()).isNotNull();
      assertThat(pod.getAffinity().getNodeAffinity().toString()).contains("kubernetes.io/arch");
    });
    assertThat(pods).filteredOn(pod -> pod.getAffinity().getPodAntiAffinity() == null).singleElement()
        .satisfies(job -> assertThat(job.getServiceAccountName()).isEqualTo("partita-uninstall"));
  }

  private static Optional<PodSpec> pod(HasMetadata object) {
    return switch (object) {
      case Deployment deployment -> Optional.of(deployment.getSpec().getTemplate().getSpec());
      case Job job -> Optional.of(job.getSpec().getTemplate().getSpec());
      default -> Optional.empty();
    };
  }

  /** No pod can have two listeners on one port: it would end as often as it is started. */
  @Test
  void aPortThatIsTakenIsRefusedWithWhoHasIt() {
    for (int health : List.of(8080, 8081, 8082, 8083, 8443)) {
      assertThatThrownBy(() -> Chart.text(Map.of("metrics.port", health)))
          .hasMessageContaining("metrics.port: " + health + " is the port of ");
    }
    for (int taken : List.of(8081, 8082, 8083)) {
      assertThatThrownBy(() -> Chart.text(Map.of("webhook.port", taken)))
          .hasMessageContaining("webhook.port: " + taken + " is the port of ");
    }
    assertThatThrownBy(() -> Chart.text(Map.of("webhook.port", 9400)))
        .hasMessageContaining("metrics.port: 9400 is the port of the webhooks");
    assertThat(Chart.text(Map.of("webhook.port", 8080))).as("the plugins' pods have it").isNotEmpty();
    assertThat(Chart.text(Map.of("metrics.port", 8083, "web.enabled", false))).isNotEmpty();
    assertThat(Chart.text(Map.of("metrics.port", 8443, "webhook.enabled", false))).isNotEmpty();
    assertThat(Chart.text(Map.of("webhook.port", 9400, "metrics.enabled", false))).isNotEmpty();
  }

  /** The SecurityContextConstraints, of which the client knows no class. */
  private static Map<String, Object> constraints(Map<String, Object> values) {
    return only(GenericKubernetesResource.class, values).getAdditionalProperties();
  }

  private static <T extends HasMetadata> T only(Class<T> kind, Map<String, Object> values) {
    List<T> found = Chart.rendered(values).filter(kind::isInstance).map(kind::cast).toList();
    assertThat(found).hasSize(1);
    return found.getFirst();
  }
}
