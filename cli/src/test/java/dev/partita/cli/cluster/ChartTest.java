package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.LintResult;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

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
    assertThatThrownBy(() -> Chart.rendered(Map.of("plugin.onExcess", "evict"))).hasMessageContaining("onExcess");
  }

  private static List<String> capabilities(PodSpec plugin) {
    return plugin.getContainers().getFirst().getSecurityContext().getCapabilities().getAdd();
  }
}
