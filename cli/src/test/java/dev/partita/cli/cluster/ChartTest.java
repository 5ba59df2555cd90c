package dev.partita.cli.cluster;

import dev.partita.cli.output.YamlWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

class ChartTest {
  @Test
  void lintsStrictly() {
    LintResult result = Chart.FOLDER.lint().strict().call();
    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  @Test
  void aValueThatIsMisspeltOrMalformedIsRefused() {
    assertThatThrownBy(() -> Chart.rendered(Map.of("simulaton.enabled", true))).hasMessageContaining("simulaton");
    assertThatThrownBy(() -> Chart.rendered(Map.of("simulation.gpus", "h200 x4"))).hasMessageContaining("gpus");
    assertThatThrownBy(() -> Chart.rendered(Map.of("driver.root", "relative"))).hasMessageContaining("root");
  }

  /** What kubelet, the API server or each plugin would refuse, long after helm has gone through with it. */
  @ParameterizedTest
  @CsvSource({
    "image.registry, https://registry.example/partita",
    "image.registry, registry.example/Partita",
    "image.registry, registry.example/partita:v1",
    "image.tag, a b",
    "image.tag, sha256:0123abcd",
    "driver.root, /run/../opt",
    "plugin.kubeletRoot, /var/lib/..",
    "plugin.plausibleOverhead, 512Mi",
    "plugin.plausibleOverhead, 0.5Gi",
    "controller.hostMemory, 300MB"})
  void aValueThatNobodyCouldUseIsRefused(String name, String value) {
    assertThatThrownBy(() -> Chart.rendered(Map.of(name, value))).hasMessageContaining(name.replace(".", "/"))
        .hasMessageContaining("does not match pattern");
  }

  @ParameterizedTest
  @CsvSource({
    "image.registry, localhost:5000",
    "image.registry, Registry.example:5000/team_a/partita-1",
    "driver.root, /",
    "driver.root, /opt/.nvidia/driver-580.95/",
    "plugin.plausibleOverhead, 1536Mi",
    "plugin.plausibleOverhead, 1.5Gi",
    "controller.hostMemory, 0.5Gi"})
  void aValueThatIsRareIsNotRefused(String name, String value) {
    assertThat(Chart.rendered(Map.of(name, value))).isNotEmpty();
  }

  /** YAML takes a name of digits for a number, and 1e3 as well: the API server refuses both. */
  @ParameterizedTest
  @ValueSource(strings = {"123", "1e3", "0x1f"})
  void namesOfDigitsAreNames(String name) {
    Map<String, Object> everything = Map.ofEntries(Map.entry("metrics.podMonitor.enabled", true),
        Map.entry("metrics.serviceMonitor.enabled", true), Map.entry("metrics.prometheusRule.enabled", true),
        Map.entry("metrics.dashboards.enabled", true), Map.entry("networkPolicy.enabled", true),
        Map.entry("priorityQuota.enabled", true), Map.entry("openshift", true), Map.entry("web.enabled", true),
        Map.entry("web.viewer", true), Map.entry("simulation.enabled", true));
    List<String> plain = notStrings(Chart.text("partita", "partita-system", everything));
    assertThat(plain).isNotEmpty();
    assertThat(notStrings(Chart.text(name, name, everything))).isEqualTo(plain);
    Map<String, Object> withCertManager = new HashMap<>(everything);
    withCertManager.put("webhook.certManager.enabled", true);
    assertThat(notStrings(Chart.text(name, name, withCertManager)))
        .isEqualTo(notStrings(Chart.text("partita", "partita-system", withCertManager)));
  }

  /** Where something else than a string stands. */
  private static List<String> notStrings(String yaml) {
    List<String> paths = new ArrayList<>();
    for (Object document : new Yaml().loadAll(yaml)) {
      collect("", document, paths);
    }
    return paths;
  }

  private static void collect(String path, @Nullable Object value, List<String> paths) {
    switch (value) {
      case null -> {}
      case Map<?, ?> map -> map.forEach((key, inner) -> collect(path + "." + key, inner, paths));
      case List<?> list -> list.forEach(inner -> collect(path + "[]", inner, paths));
      case String _ -> {}
      default -> paths.add(path);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.10", "2026", "1e3", "true"})
  void aTagIsTakenToTheLetter(String tag, @TempDir Path folder) throws IOException {
    Path values = Files.writeString(folder.resolve("values.yaml"),
        YamlWriter.write(UpCommand.chartValues("h200x4", "registry.example/partita", tag)));
    assertThat(Chart.FOLDER.template().withName("partita").withKubeVersion("1.36.3").withValuesFile(values).call())
        .contains("image: registry.example/partita/dra-controller:" + tag + "\n");
  }

  /** Flux writes the digest of a chart that it has from a registry behind its version. */
  @Test
  void aVersionWithBuildMetadataMakesLabels(@TempDir Path folder) throws IOException {
    assertThat(Chart.renderedWithHooks(folder, Map.of())).isNotEmpty(); // which copies the chart
    Path about = folder.resolve("Chart.yaml");
    Files.writeString(about,
        Files.readString(about).replaceAll("(?m)^(version|appVersion): .*$", "$1: 0.1.0+20eb5010550b"));
    assertThat(new Helm(folder).template().withName("partita").withKubeVersion("1.36.3").skipCrds().call())
        .contains("helm.sh/chart: partita-0.1.0_20eb5010550b\n").doesNotContain("+20eb5010550b");
  }

  @Test
  void labelsAndVariablesThatAreNoTextAreRefusedWithTheirPlace() {
    assertThatThrownBy(() -> Chart.rendered(Map.of("plugin.nodeSelector.gpu", true)))
        .hasMessageContaining("plugin.nodeSelector.gpu".replace(".", "/")).hasMessageContaining("string");
    assertThat(Chart.plugin(Map.of("plugin.nodeSelector.gpu", "on")).getNodeSelector()).containsEntry("gpu", "on");
    assertThat(Chart.plugin(Map.of("plugin.nodeSelector.gpu", "1e3")).getNodeSelector()).containsEntry("gpu", "1e3");
  }

  @Test
  void theSimulatorIsMentionedOnlyWhereCardsAreSimulated() {
    assertThat(Chart.text(Map.of())).doesNotContainIgnoringCase("simulat");
    PodSpec pod = Chart.plugin(Map.of("simulation.enabled", true, "simulation.gpus", "t4x2,a100x1"));
    assertThat(pod.getInitContainers()).singleElement()
        .satisfies(laysOut -> assertThat(laysOut.getArgs()).contains("t4x2,a100x1"));
    assertThat(Chart.environment(pod))
        .containsEntry("PARTITA_DRIVER_ROOT_ON_HOST", "/var/lib/partita/simulator")
        .containsEntry("PARTITA_EXTRA_DRIVER_MOUNTS", "/etc/partita-simulator:ro,/run/partita-simulator:rw");
  }

  @Test
  void theControllerLearnsWhatACardCostsOfTheHostsMemoryWhereThatIsSaid() {
    assertThat(Chart.environment(Chart.controller(Map.of()))).doesNotContainKey("PARTITA_HOST_MEMORY");
    assertThat(Chart.environment(Chart.controller(Map.of("controller.hostMemory", "300Mi"))))
        .containsEntry("PARTITA_HOST_MEMORY", "300Mi");
  }

  @Test
  void onlyRealCardsMakeThePluginPrivileged() {
    assertThat(Chart.privileged(Map.of())).isTrue();
    assertThat(Chart.privileged(Map.of("plugin.runtimeClassName", "nvidia"))).isFalse();
    assertThat(Chart.privileged(Map.of("plugin.privileged", false))).isFalse();
    assertThat(Chart.privileged(Map.of("simulation.enabled", true))).isFalse();
  }

  @Test
  void thePluginSeesTheDriverRootReadOnlyAndItsOwnFoldersUnderTheirOwnPaths() {
    PodSpec pod = Chart.plugin(Map.of("plugin.mps", true));
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
              } else if (mount.getName().equals("dev")) {
                assertThat(mount.getReadOnly()).isTrue();
                assertThat(mount.getMountPath() + " " + host.get("dev")).isEqualTo("/host/dev /dev");
              } else if (mount.getName().equals("shm")) {
                assertThat(mount.getMountPath() + " " + host.get("shm")).isEqualTo("/dev/shm /run/partita/shm");
              } else {
                assertThat(mount.getMountPath()).isEqualTo(host.get(mount.getName()));
              }
            });
  }

  @Test
  void wherePluginsMayMountTheSharedMemoryOfMpsIsOfASizeOfItsOwn() {
    assertThat(Chart.plugin(Map.of("plugin.mps", true)).getInitContainers()).singleElement().satisfies(container -> {
      assertThat(container.getName()).isEqualTo("shared-memory");
      assertThat(container.getCommand().getLast()).contains("mount -t tmpfs -o size=50%,mode=1777");
      assertThat(container.getVolumeMounts()).singleElement()
          .satisfies(mount -> assertThat(mount.getMountPropagation()).isEqualTo("Bidirectional"));
    });
    assertThat(Chart.plugin(Map.of()).getInitContainers()).isEmpty();
    assertThat(Chart.plugin(Map.of("plugin.mps", true, "plugin.privileged", false)).getInitContainers()).isEmpty();
    assertThat(Chart.plugin(Map.of("plugin.mps", true, "simulation.enabled", true)).getInitContainers()).singleElement()
        .satisfies(container -> assertThat(container.getName()).isEqualTo("simulated-driver"));
  }

  @Test
  void cardsAreCutOnlyWhereThatIsAllowedAndSimulatedOnesByWritingIntoTheDriverRoot() {
    assertThat(Chart.plugin(Map.of()).getContainers().getFirst().getEnv())
        .noneMatch(env -> env.getName().equals("PARTITA_MIG"));
    PodSpec real = Chart.plugin(Map.of("plugin.mig", true));
    PodSpec simulated = Chart.plugin(Map.of("plugin.mig", true, "simulation.enabled", true));
    assertThat(real.getContainers().getFirst().getEnv())
        .anyMatch(env -> env.getName().equals("PARTITA_MIG") && env.getValue().equals("true"));
    assertThat(driverRootIsReadOnly(real)).isTrue();
    assertThat(driverRootIsReadOnly(simulated)).isFalse();
  }

  /** Simulated cards are cut by writing files; real ones only by who is privileged. */
  @Test
  void cuttingRealCardsWithoutAPrivilegedContainerIsRefused() {
    for (Map<String, Object> unprivileged : List.<Map<String, Object>>of(Map.of("plugin.privileged", false),
        Map.of("plugin.runtimeClassName", "nvidia"))) {
      Map<String, Object> values = new HashMap<>(unprivileged);
      values.put("plugin.mig", true);
      assertThatThrownBy(() -> Chart.rendered(values)).hasMessageContaining("plugin.mig: true needs a privileged")
          .hasMessageContaining("set plugin.privileged: true");
      values.put("simulation.enabled", true);
      assertThat(Chart.rendered(values)).isNotEmpty();
    }
    assertThat(Chart.privileged(
        Map.of("plugin.mig", true, "plugin.runtimeClassName", "nvidia", "plugin.privileged", true))).isTrue();
  }

  private static boolean driverRootIsReadOnly(PodSpec pod) {
    return pod.getContainers().getFirst().getVolumeMounts().stream()
        .filter(mount -> mount.getName().equals("driver-root"))
        .allMatch(mount -> Boolean.TRUE.equals(mount.getReadOnly()));
  }

  @Test
  void containersAreConfinedAndBounded() {
    PodSpec controller = Chart.controller(Map.of());
    assertThat(controller.getSecurityContext().getRunAsNonRoot()).isTrue();
    PodSpec plugin = Chart.plugin(Map.of("simulation.enabled", true));
    assertThat(
        Stream.of(controller.getContainers(), plugin.getContainers(), plugin.getInitContainers()).flatMap(List::stream))
        .allSatisfy(
            container -> {
              assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
              assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
              assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
            });
    assertThat(Stream.of(controller, plugin).map(PodSpec::getContainers).flatMap(List::stream))
        .allSatisfy(container -> assertThat(container.getResources().getLimits()).containsKey("memory"));
  }

  @Test
  void thePluginSeesTheNodesProcessesAndMayKillThemWhereMemoryIsLentOrExcessIsToEnd() {
    assertThat(Chart.plugin(Map.of()).getHostPID()).isTrue();
    assertThat(Chart.plugin(Map.of("plugin.hostPID", false)).getHostPID()).isFalse();
    assertThat(Chart.environment(Chart.plugin(Map.of()))).containsEntry("PARTITA_ON_EXCESS", "report")
        .containsEntry("PARTITA_PLAUSIBLE_OVERHEAD", "4Gi");
    assertThat(Chart.environment(Chart.plugin(Map.of("plugin.plausibleOverhead", "8Gi"))))
        .containsEntry("PARTITA_PLAUSIBLE_OVERHEAD", "8Gi");
    assertThat(Chart.environment(Chart.plugin(Map.of("plugin.priorityThreshold", 20, "plugin.priorityHoldOff", 1.5))))
        .containsEntry("PARTITA_PRIORITY_THRESHOLD", "20").containsEntry("PARTITA_PRIORITY_HOLD_OFF", "1.5");
    PodSpec killing =
        Chart.plugin(Map.of("simulation.enabled", true, "plugin.lendMemory", false, "plugin.onExcess", "kill"));
    assertThat(Chart.environment(killing)).containsEntry("PARTITA_ON_EXCESS", "kill")
        .containsEntry("PARTITA_LEND_MEMORY", "false");
    assertThat(capabilities(killing)).containsExactly("KILL");
    PodSpec lending = Chart.plugin(Map.of("simulation.enabled", true));
    assertThat(Chart.environment(lending)).containsEntry("PARTITA_LEND_MEMORY", "true");
    assertThat(capabilities(lending)).containsExactly("KILL");
    PodSpec blind = Chart.plugin(Map.of("simulation.enabled", true, "plugin.hostPID", false));
    assertThat(Chart.environment(blind)).as("it could end nobody").containsEntry("PARTITA_LEND_MEMORY", "false");
    assertThat(capabilities(blind)).isEmpty();
    assertThatThrownBy(() -> Chart.rendered(Map.of("plugin.onExcess", "kill", "plugin.hostPID", false)))
        .hasMessageContaining("plugin.onExcess: kill needs plugin.hostPID: true");
    assertThatThrownBy(() -> Chart.rendered(Map.of("plugin.onExcess", "evict"))).hasMessageContaining("onExcess");
  }

  /** One that is privileged lifts what limits it has set before they were switched off. */
  @Test
  void thePluginSeesTheNodesCgroupsWhereItLimitsPodsOrMayLiftLimits() {
    assertThat(mountsCgroups(Map.of())).isTrue();
    assertThat(mountsCgroups(Map.of("plugin.driverMemoryLimits", false))).isTrue();
    assertThat(mountsCgroups(Map.of("plugin.driverMemoryLimits", false, "plugin.privileged", false))).isFalse();
  }

  private static boolean mountsCgroups(Map<String, Object> values) {
    return Chart.plugin(values).getContainers().getFirst().getVolumeMounts().stream()
        .anyMatch(mount -> mount.getMountPath().equals("/sys/fs/cgroup"));
  }

  private static List<String> capabilities(PodSpec plugin) {
    return plugin.getContainers().getFirst().getSecurityContext().getCapabilities().getAdd();
  }
}
