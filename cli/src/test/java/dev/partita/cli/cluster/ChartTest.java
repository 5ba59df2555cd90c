package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ChartTest {
  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final Helm CHART = new Helm(Path.of("../deploy/helm/partita"));

  @Test
  void lintsStrictly() {
    LintResult result = CHART.lint().strict().call();
    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  @Test
  void aValueThatIsMisspeltOrMalformedIsRefused() {
    assertThatThrownBy(() -> rendered(Map.of("simulaton.enabled", true))).hasMessageContaining("simulaton");
    assertThatThrownBy(() -> rendered(Map.of("simulation.gpus", "h200 x4"))).hasMessageContaining("gpus");
    assertThatThrownBy(() -> rendered(Map.of("driver.root", "relative"))).hasMessageContaining("root");
  }

  @Test
  void theSimulatorIsMentionedOnlyWhereCardsAreSimulated() {
    assertThat(text(Map.of())).doesNotContainIgnoringCase("simulat");
    PodSpec pod = plugin(Map.of("simulation.enabled", true, "simulation.gpus", "t4x2,a100x1"));
    assertThat(pod.getInitContainers()).singleElement().satisfies(laysOut -> assertThat(laysOut.getArgs()).contains("t4x2,a100x1"));
    assertThat(environment(pod))
        .containsEntry("PARTITA_DRIVER_ROOT_ON_HOST", "/var/lib/partita/simulator")
        .containsEntry("PARTITA_EXTRA_DRIVER_MOUNTS", "/etc/partita-simulator:ro,/run/partita-simulator:rw");
  }

  @Test
  void onlyRealCardsMakeThePluginPrivileged() {
    assertThat(privileged(Map.of())).isTrue();
    assertThat(privileged(Map.of("plugin.runtimeClassName", "nvidia"))).isFalse();
    assertThat(privileged(Map.of("plugin.privileged", false))).isFalse();
    assertThat(privileged(Map.of("simulation.enabled", true))).isFalse();
  }

  @Test
  void thePluginSeesTheDriverRootReadOnlyAndItsOwnFoldersUnderTheirOwnPaths() {
    PodSpec pod = plugin(Map.of());
    Map<String, String> host =
        pod.getVolumes().stream()
            .filter(volume -> volume.getHostPath() != null)
            .collect(java.util.stream.Collectors.toMap(v -> v.getName(), v -> v.getHostPath().getPath()));
    assertThat(pod.getContainers().getFirst().getVolumeMounts())
        .filteredOn(mount -> host.containsKey(mount.getName()))
        .allSatisfy(
            mount -> {
              if (mount.getName().equals("driver-root")) {
                assertThat(mount.getReadOnly()).isTrue();
              } else {
                assertThat(mount.getMountPath()).isEqualTo(host.get(mount.getName()));
              }
            });
  }

  @Test
  void noRoleHasAWildcardOrReadsSecrets() {
    assertThat(roles())
        .isNotEmpty()
        .flatExtracting(ClusterRole::getRules)
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs()).doesNotContain("*", "impersonate", "escalate", "bind");
              assertThat(rule.getResources()).doesNotContain("*", "secrets", "configmaps");
            });
  }

  @Test
  void thePluginMayNeitherAllocateNorPublish() {
    List<PolicyRule> rules =
        roles().filter(role -> role.getMetadata().getName().endsWith("plugin")).flatMap(role -> role.getRules().stream()).toList();
    assertThat(rules).flatExtracting(PolicyRule::getResources).doesNotContain("resourceclaims/binding", "resourceslices", "deviceclasses");
    assertThat(rules)
        .filteredOn(rule -> rule.getResources().contains("resourceclaims/driver"))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getResourceNames()).containsExactly("gpu.partita.dev");
              assertThat(rule.getVerbs()).containsExactly("associated-node:patch");
            });
  }

  @Test
  void containersAreConfinedAndBounded() {
    PodSpec controller =
        rendered(Map.of()).filter(Deployment.class::isInstance).map(Deployment.class::cast).findFirst().orElseThrow().getSpec().getTemplate().getSpec();
    assertThat(controller.getSecurityContext().getRunAsNonRoot()).isTrue();
    PodSpec plugin = plugin(Map.of("simulation.enabled", true));
    assertThat(Stream.of(controller.getContainers(), plugin.getContainers(), plugin.getInitContainers()).flatMap(List::stream))
        .allSatisfy(
            container -> {
              assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
              assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
              assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
            });
    assertThat(Stream.of(controller, plugin).map(PodSpec::getContainers).flatMap(List::stream))
        .allSatisfy(container -> assertThat(container.getResources().getLimits()).containsKey("memory"));
  }

  private static boolean privileged(Map<String, Object> values) {
    return Boolean.TRUE.equals(plugin(values).getContainers().getFirst().getSecurityContext().getPrivileged());
  }

  private static Map<String, String> environment(PodSpec pod) {
    Container container = pod.getContainers().getFirst();
    return container.getEnv().stream()
        .filter(variable -> variable.getValue() != null)
        .collect(java.util.stream.Collectors.toMap(v -> v.getName(), v -> v.getValue()));
  }

  private static PodSpec plugin(Map<String, Object> values) {
    return rendered(values).filter(DaemonSet.class::isInstance).map(DaemonSet.class::cast).findFirst().orElseThrow().getSpec().getTemplate().getSpec();
  }

  private static Stream<ClusterRole> roles() {
    return rendered(Map.of()).filter(ClusterRole.class::isInstance).map(ClusterRole.class::cast);
  }

  private static Stream<HasMetadata> rendered(Map<String, Object> values) {
    return Stream.of(text(values).split("(?m)^---$"))
        .filter(document -> document.contains("kind:"))
        .map(document -> (HasMetadata) YAML.unmarshal(document));
  }

  private static String text(Map<String, Object> values) {
    TemplateCommand template = CHART.template().withName("partita").withNamespace("partita-system").withKubeVersion("1.36.3").skipCrds();
    values.forEach(template::set);
    return template.call();
  }
}
