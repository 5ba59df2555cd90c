package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Cards that are cut for claims, on a node that offers it. */
@OnRealCluster
@OnSettingsNode
class MigIT {
  private static final long GIB = 1L << 30;

  private static Ask instanceShare(String memory) {
    return new Ask("shared.mig.gpu.partita.dev", 1, Map.of("memory", memory), "", "");
  }

  private static void awaitDevices(Daemons daemons, String node, Predicate<List<String>> wanted) {
    await("the devices of " + node)
        .atMost(Workspace.PATIENCE)
        .until(() -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
            .map(device -> device.getName()).toList(), wanted);
  }

  private static void assertHasOneDeviceOf(PodUnderTest pod, double leastGib, double mostGib) {
    assertThat(pod.log().lines().filter(line -> line.startsWith("device ")))
        .singleElement()
        .satisfies(line -> assertThat(Long.parseLong(line.replaceAll(".*total=([0-9]+) .*", "$1")) / (double) GIB)
            .isBetween(leastGib, mostGib));
  }

  @Test
  @NeedsSteadyController
  void aCardIsCutForClaimsAndServesAsAWholeAfterThem(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("what " + node + " offers", () -> cluster.patchGpuNode(node, "{\"publish\": null}"));
      cluster.patchGpuNode(node, "{\"publish\": [\"Whole\", \"Shared\", \"Mig\"]}");
      awaitDevices(daemons, node, devices -> devices.stream().anyMatch(device -> device.startsWith("gpu-0-mig-1g-")));

      workspace.awaitAdmission();
      PodUnderTest converted =
          workspace.podAsking("converted", node, "{nvidia.com/mig-1g.18gb: 1}", "partita-probe info");
      assertThat(converted.awaitLog()).isNotEmpty();
      assertHasOneDeviceOf(converted, 15, 18);
      converted.deleteAndAwait();

      String look = "partita-probe info; partita-probe alloc 60Gi; exec partita-probe hold 10Gi";
      PodUnderTest small = workspace.pod("small", node, Ask.instance("1g.18gb"), look).awaitLine("holding");
      PodUnderTest large = workspace.pod("large", node, Ask.instance("3g.71gb"), look).awaitLine("holding");
      assertHasOneDeviceOf(small, 15, 18);
      assertHasOneDeviceOf(large, 65, 71);
      assertThat(small.log()).contains("alloc 64424509440 CUDA_ERROR_OUT_OF_MEMORY");
      assertThat(large.log()).contains("alloc 64424509440 CUDA_SUCCESS");
      String card = small.claim().awaitAllocated().getFirst().getDevice().replaceAll("-mig-.*", "");
      assertThat(large.claim().awaitAllocated().getFirst().getDevice()).as("best fit").startsWith(card + "-mig-3g-");

      PodUnderTest whole = workspace.pod("whole", node, Ask.wholeCards(RealCluster.CARDS),
          "partita-probe info; partita-probe alloc 130Gi; exec sleep 600");
      workspace.awaitEvent("ResourceClaim", whole.claim().name(), "Unallocatable");
      small.deleteAndAwait();
      large.deleteAndAwait();
      assertThat(whole.awaitLine("alloc").log()).contains("alloc 139586437120 CUDA_SUCCESS");
      whole.deleteAndAwait();
    }
    awaitDevices(daemons, node,
        devices -> !devices.isEmpty() && devices.stream().noneMatch(device -> device.contains("-mig-")));
  }

  @Test
  @DependsOnVersion
  @NeedsSteadyController
  void kubeSchedulerBindsAPodOnceItsInstanceIsMadeAndNotWhereItCannotBe(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cluster.leaveToScheduler(node, cleanup, "Whole", "Shared", "Mig");
      await("binding conditions").atMost(Workspace.PATIENCE)
          .until(() -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
              .anyMatch(device -> device.getName().startsWith("gpu-0-mig-1g-") && device.getTaints().isEmpty()
                  && device.getBindingConditions().equals(List.of("InstanceMade"))));

      PodUnderTest bound =
          workspace.pod("bound", node, Ask.instance("1g.18gb"), "partita-probe info; exec sleep 600")
              .awaitLine("device 0");
      assertHasOneDeviceOf(bound, 15, 18);
      workspace.awaitEvent("Pod", "bound", "BindingConditionsPending");
      assertThat(bound.claim().devices()).singleElement()
          .satisfies(device -> assertThat(device.getBindingConditions()).containsExactly("InstanceMade"));
      assertThat(bound.claim().awaitCondition("Ready", "Prepared").getStatus()).isEqualTo("True");
      assertThat(bound.claim().awaitCondition("InstanceMade", "Made").getStatus()).as("for further pods of the claim")
          .isEqualTo("True");

      PodUnderTest refused = workspace.withoutAdmission().pod("refused", node,
          Ask.instance("1g.18gb").config("placement: {models: {avoid: [h200]}}"), "exec sleep 600");
      workspace.awaitEvent("Pod", "refused", "FailedScheduling", "is of model h200, against its config's");
      assertThat(refused.node()).as("kube-scheduler binds it nowhere").isNullOrEmpty();
      refused.deleteAndAwait();
      bound.deleteAndAwait();
    }
    awaitDevices(daemons, node,
        devices -> !devices.isEmpty() && devices.stream().noneMatch(device -> device.contains("-mig-")));
  }

  @Test
  @NeedsSteadyController
  void podsWithSharesOfOneInstanceAreEachHeldToTheirsAndWhatDoesNotFitWaits(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("the MIG mode of card 0 of " + node, () -> cluster.files().simulate(node, "mig --gpu 0 disable"));
      cluster.files().simulate(node, "mig --gpu 0 enable");
      cluster.files().simulate(node, "mig --gpu 0 create 1g.18gb:0");
      cleanup.undo("what " + node + " offers", () -> cluster.patchGpuNode(node, "{\"publish\": null}"));
      cluster.patchGpuNode(node, "{\"publish\": [\"Whole\", \"Shared\", \"MigShared\"]}");
      awaitDevices(daemons, node, devices -> devices.stream().filter(device -> device.matches("gpu-0(-.*)?")).toList()
          .equals(List.of("gpu-0-mig-1g-18gb-0", "gpu-0-mig-1g-18gb-0-shared")));
      await("the class of shares of instances").atMost(Workspace.PATIENCE).until(
          () -> cluster.client().resources(DeviceClass.class).withName("shared.mig.gpu.partita.dev").get() != null);

      String look = "partita-probe info; partita-probe alloc 7Gi; exec partita-probe hold 4Gi";
      PodUnderTest six = workspace.pod("six", node, instanceShare("6Gi"), look).awaitLine("holding");
      PodUnderTest eight = workspace.pod("eight", node, instanceShare("8Gi"), look).awaitLine("holding");
      assertHasOneDeviceOf(six, 6, 6);
      assertHasOneDeviceOf(eight, 8, 8);
      assertThat(six.log()).contains("alloc 7516192768 CUDA_ERROR_OUT_OF_MEMORY");
      assertThat(eight.log()).contains("alloc 7516192768 CUDA_SUCCESS");
      assertThat(eight.claim().awaitAllocated().getFirst().getDevice()).isEqualTo("gpu-0-mig-1g-18gb-0-shared");

      PodUnderTest four = workspace.pod("four", node, instanceShare("4Gi"), "partita-probe info; exec sleep 600");
      workspace.awaitEvent("ResourceClaim", four.claim().name(), "Unallocatable", "2 GiB free of 4 GiB asked");
      PodUnderTest whole = workspace.pod("whole", node, Ask.instance("1g.18gb"), "partita-probe info; exec sleep 600");
      workspace.awaitEvent("ResourceClaim", whole.claim().name(), "Unallocatable",
          "the whole MIG instance is asked for, but it has 2 shares");
      six.deleteAndAwait();
      assertHasOneDeviceOf(four.awaitLine("device 0"), 4, 4);
      four.deleteAndAwait();
      eight.deleteAndAwait();
      assertHasOneDeviceOf(whole.awaitLine("device 0"), 15, 18);
      whole.deleteAndAwait();
    }
    awaitDevices(daemons, node, devices -> devices.containsAll(List.of("gpu-0", "gpu-0-shared"))
        && devices.stream().noneMatch(device -> device.contains("-mig-")));
  }

  @Test
  @NeedsSteadyController
  void instancesThatAnAdministratorMadeServeClaimsAndOutliveThem(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("the MIG mode of card 0 of " + node, () -> cluster.files().simulate(node, "mig --gpu 0 disable"));
      cluster.files().simulate(node, "mig --gpu 0 enable");
      cluster.files().simulate(node, "mig --gpu 0 create 3g.71gb:4");
      cluster.files().simulate(node, "mig --gpu 0 create 1g.18gb:0");
      awaitDevices(daemons, node, devices -> devices.stream().filter(device -> device.matches("gpu-0(-.*)?")).toList()
          .equals(List.of("gpu-0-mig-1g-18gb-0", "gpu-0-mig-3g-71gb-4")));

      PodUnderTest large = workspace.pod("large", node, Ask.instance("3g.71gb"),
          "partita-probe info; partita-probe alloc 60Gi; exec partita-probe hold 10Gi").awaitLine("holding");
      assertHasOneDeviceOf(large, 65, 71);
      assertThat(large.log()).contains("alloc 64424509440 CUDA_SUCCESS");
      assertThat(large.claim().awaitAllocated().getFirst().getDevice()).isEqualTo("gpu-0-mig-3g-71gb-4");
      PodUnderTest second =
          workspace.pod("second", node, Ask.instance("3g.71gb"), "partita-probe info; exec sleep 600");
      workspace.awaitEvent("ResourceClaim", second.claim().name(), "Unallocatable");
      large.deleteAndAwait();
      assertHasOneDeviceOf(second.awaitLine("device 0"), 65, 71);

      cluster.files().simulate(node, "mig --gpu 0 disable");
      assertThat(second.claim().awaitCondition("Healthy", "MigInstanceIsGone").getStatus()).isEqualTo("False");
      awaitDevices(daemons, node,
          devices -> devices.stream().filter(device -> device.matches("gpu-0(-.*)?")).toList()
              .equals(List.of("gpu-0-mig-3g-71gb-4")));
      second.deleteAndAwait();
    }
    awaitDevices(daemons, node, devices -> devices.containsAll(List.of("gpu-0", "gpu-0-shared"))
        && devices.stream().noneMatch(device -> device.contains("-mig-")));
  }
}
