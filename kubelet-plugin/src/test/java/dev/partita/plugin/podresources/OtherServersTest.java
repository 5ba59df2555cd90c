package dev.partita.plugin.podresources;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.gpu.StaticMigInstance;
import java.util.List;
import java.util.Map;
import k8s.io.kubelet.pkg.apis.podresources.v1.AllocatableResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.ContainerResources;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResources;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OtherServersTest {
  private static final String FIRST = "GPU-4f3b1c52-77aa-4c0d-9a51-000000000001";
  private static final String SECOND = "GPU-4f3b1c52-77aa-4c0d-9a51-000000000002";
  private static final String INSTANCE = "MIG-5f1d2c3b-77aa-4c0d-9a51-0000000000a1";
  private static final List<Gpu> CARDS = List.of(card(0, FIRST), card(1, SECOND).withStaticMigInstances(
      List.of(new StaticMigInstance(INSTANCE, "1g.18gb", new MigProfile.Placement(0, 1)),
          new StaticMigInstance("", "1g.18gb", new MigProfile.Placement(1, 1)))));
  private static final AllocatableResourcesResponse NOTHING = AllocatableResourcesResponse.getDefaultInstance();
  private static final ListPodResourcesResponse NO_PODS = ListPodResourcesResponse.getDefaultInstance();

  @ParameterizedTest
  @ValueSource(strings = {"", "::0", "::12", "-3", "-_-7"})
  void aDeviceThatBearsACardsUuidIsThatCard(String behind) {
    assertThat(OtherServers.read(CARDS, offers("nvidia.com/gpu", SECOND + behind), NO_PODS))
        .isEqualTo(Map.of(SECOND, List.of(new OtherServer("nvidia.com/gpu", true, 0))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"eth0", "", "GPU-", "GPU-4f3b1c52-77aa-4c0d-9a51-0000000000012",
    "MIG-4f3b1c52-77aa-4c0d-9a51-000000000001", "xGPU-4f3b1c52-77aa-4c0d-9a51-000000000001"})
  void aDeviceThatBearsNoCardsUuidIsNone(String id) {
    assertThat(OtherServers.read(CARDS, offers("some.example/device", id), NO_PODS)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {INSTANCE, INSTANCE + "::0", "MIG-" + SECOND + "/1/0", "MIG-" + SECOND + "/13/0::2"})
  void aMigInstanceOfACardIsThatCard(String id) {
    assertThat(OtherServers.read(CARDS, offers("nvidia.com/mig-1g.18gb", id), NO_PODS))
        .isEqualTo(Map.of(SECOND, List.of(new OtherServer("nvidia.com/mig-1g.18gb", true, 0))));
  }

  @Test
  void aPodThatStillHasACardCountsOnceWhetherOrNotItsPluginHasEnded() {
    ListPodResourcesResponse pods =
        ListPodResourcesResponse.newBuilder()
            .addPodResources(pod("two-containers", container("nvidia.com/gpu", FIRST + "::0"),
                container("nvidia.com/gpu", FIRST + "::1")))
            .addPodResources(pod("one", container("nvidia.com/gpu", FIRST + "::2")))
            .addPodResources(pod("other", container("nvidia.com/gpumem", FIRST + "-1", SECOND + "-1")))
            .build();
    assertThat(OtherServers.read(CARDS, NOTHING, pods)).isEqualTo(Map.of(
        FIRST, List.of(new OtherServer("nvidia.com/gpu", false, 2), new OtherServer("nvidia.com/gpumem", false, 1)),
        SECOND, List.of(new OtherServer("nvidia.com/gpumem", false, 1))));
    assertThat(OtherServers.read(CARDS, offers("nvidia.com/gpu", FIRST), pods).get(FIRST))
        .startsWith(new OtherServer("nvidia.com/gpu", true, 2));
  }

  private static Gpu card(int index, String uuid) {
    return new Gpu(index, index, uuid, GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"), 140L << 30,
        GpuTopology.UNKNOWN,
        GpuHealth.HEALTHY);
  }

  private static AllocatableResourcesResponse offers(String resource, String... ids) {
    return AllocatableResourcesResponse.newBuilder().addDevices(devices(resource, ids)).build();
  }

  private static PodResources pod(String name, ContainerResources... containers) {
    return PodResources.newBuilder().setNamespace("lab").setName(name).addAllContainers(List.of(containers)).build();
  }

  private static ContainerResources container(String resource, String... ids) {
    return ContainerResources.newBuilder().setName("main").addDevices(devices(resource, ids)).build();
  }

  private static k8s.io.kubelet.pkg.apis.podresources.v1.ContainerDevices devices(String resource, String... ids) {
    return k8s.io.kubelet.pkg.apis.podresources.v1.ContainerDevices.newBuilder().setResourceName(resource)
        .addAllDeviceIds(List.of(ids)).build();
  }
}
