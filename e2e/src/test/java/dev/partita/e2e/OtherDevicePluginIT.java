package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Quantity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node on which NVIDIA's own device plugin hands out the same cards. */
@OnRealCluster
@OnSettingsNode
class OtherDevicePluginIT {
  private static final String PLUGIN_IMAGE = "localhost/partita-e2e/nvidia-device-plugin:1";

  /** Its name of cards in turns, so that tests of pods that ask for nvidia.com/gpu do not see it. */
  private static final String RESOURCE = "nvidia.com/gpu.shared";

  @TempDir Path folder;

  @Test
  @NeedsSteadyController
  void noCardIsServedTwiceWhileANodeMovesFromItAndBack(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    makeImage(cluster);
    try (Workspace others = workspace.another().withoutAdmission()) {
      daemons.awaitFreeCards(node);
      PodUnderTest plugin = devicePlugin(others, node);
      awaitCards(daemons, node, List.of());

      PodUnderTest served = served(others, "served", node);
      String uuid = served.awaitLine("GPU-").log().strip();
      PodUnderTest waiting = workspace.pod("waiting", node, Ask.share("8Gi"), "partita-probe info; exec sleep 600");
      assertThat(workspace.awaitEvent("ResourceClaim", waiting.claim().name(), "Unallocatable").message())
          .contains("handed out as " + RESOURCE + " by another device plugin");
      assertThat(cluster.kubectlPartita("top", "gpus", "--node", node).out()).contains("ServedElsewhere");

      plugin.deleteAndAwait();
      waiting.awaitLine("device 0");
      List<String> uuids = uuids(cluster, node);
      assertThat(uuids).contains(uuid);
      awaitCards(daemons, node,
          IntStream.range(0, RealCluster.CARDS).filter(i -> !uuids.get(i).equals(uuid)).boxed().toList());
      assertThat(waiting.claim().devices()).singleElement()
          .satisfies(device -> assertThat(device.getDevice()).isNotEqualTo("gpu-" + uuids.indexOf(uuid) + "-shared"));

      served.deleteAndAwait();
      awaitCards(daemons, node, IntStream.range(0, RealCluster.CARDS).boxed().toList());

      waiting.deleteAndAwait();
      PodUnderTest again = devicePlugin(others, node);
      awaitCards(daemons, node, List.of());
      PodUnderTest back = served(others, "back", node).awaitLine("GPU-");
      back.deleteAndAwait();
      again.deleteAndAwait();
      awaitCards(daemons, node, IntStream.range(0, RealCluster.CARDS).boxed().toList());
    }
  }

  /** Waits until exactly these cards of the node are published. */
  private static void awaitCards(Daemons daemons, String node, List<Integer> wanted) {
    await("cards " + wanted + " of " + node + " to be offered").atMost(Workspace.PATIENCE)
        .until(() -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
            .map(device -> Integer.parseInt(device.getName().replaceAll("^gpu-([0-9]+).*", "$1")))
            .distinct().sorted().toList(), wanted::equals);
  }

  private static List<String> uuids(RealCluster cluster, String node) {
    List<?> gpus = cluster.gpuNode(node).get().get("status", "gpus");
    return IntStream.range(0, gpus.size())
        .mapToObj(i -> cluster.gpuNode(node).get().<String>get("status", "gpus", i, "uuid")).toList();
  }

  private void makeImage(RealCluster cluster) {
    assumeTrue(cluster.lab().isPresent(), "only a lab makes images here");
    Path program = cluster.home().resolve("hook-lib/target/outside/device-plugin/nvidia-device-plugin");
    assumeTrue(Files.isExecutable(program) || "1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE")),
        "NVIDIA's device plugin is not there (sh hook-lib/build.sh fetch device-plugin)");
    assertThat(program).isExecutable();
    Path archive = folder.resolve("device-plugin.tar");
    cluster.lab().orElseThrow().image(PLUGIN_IMAGE, archive, List.of(program + ":/usr/bin/nvidia-device-plugin"));
    cluster.load(archive);
  }

  private static PodUnderTest served(Workspace others, String name, String node) {
    return others.podAsking(name, node, "{" + RESOURCE + ": 1}", "echo \"$NVIDIA_VISIBLE_DEVICES\"; exec sleep 600");
  }

  /** Two devices a card, so that their names are more than its UUID. Kubelet counts them in the end. */
  private static PodUnderTest devicePlugin(Workspace workspace, String node) {
    workspace.create(
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: device-plugin}
            spec:
              terminationGracePeriodSeconds: 5
              nodeSelector: {kubernetes.io/hostname: %s}
              containers:
              - name: main
                image: %s
                imagePullPolicy: IfNotPresent
                securityContext: {privileged: true}
                command: [sh, -c]
                args:
                - |
                  cat > /tmp/config.yaml <<'YAML'
                  version: v1
                  sharing:
                    timeSlicing:
                      renameByDefault: true
                      resources: [{name: nvidia.com/gpu, replicas: 2}]
                  YAML
                  exec nvidia-device-plugin --config-file /tmp/config.yaml --device-discovery-strategy nvml
                volumeMounts:
                - {name: device-plugins, mountPath: /var/lib/kubelet/device-plugins}
                - {name: driver, mountPath: /driver-root, readOnly: true}
                - {name: cards, mountPath: /etc/partita-simulator, readOnly: true}
                - {name: state, mountPath: /run/partita-simulator}
              volumes:
              - {name: device-plugins, hostPath: {path: /var/lib/kubelet/device-plugins}}
              - {name: driver, hostPath: {path: /var/lib/partita/simulator}}
              - {name: cards, hostPath: {path: /var/lib/partita/simulator/etc/partita-simulator}}
              - {name: state, hostPath: {path: /var/lib/partita/simulator/run/partita-simulator}}
            """
            .formatted(node, PLUGIN_IMAGE));
    PodUnderTest plugin = workspace.podNamed("device-plugin").awaitRunning();
    await("kubelet to count its devices").atMost(Workspace.PATIENCE)
        .until(() -> workspace.client().nodes().withName(node).get().getStatus().getAllocatable()
            .getOrDefault(RESOURCE, new Quantity("0")).getNumericalAmount().intValueExact() == 2 * RealCluster.CARDS);
    return plugin;
  }
}
