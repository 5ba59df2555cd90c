package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The names that users and dashboards hold on to. */
@OnRealCluster
class PublishedCardsIT {
  private static List<ResourceSlice> slicesOf(RealCluster cluster, String node) {
    return cluster.client().resources(ResourceSlice.class).list().getItems().stream()
        .filter(slice -> "gpu.partita.dev".equals(slice.getSpec().getDriver())
            && node.equals(slice.getSpec().getNodeName()))
        .toList();
  }

  private static Device device(RealCluster cluster, String name) {
    return slicesOf(cluster, cluster.quietNodes().getFirst()).stream()
        .flatMap(slice -> slice.getSpec().getDevices().stream())
        .filter(device -> device.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static DeviceAttribute attribute(Device device, String name) {
    return Objects.requireNonNull(device.getAttributes().get(name), name);
  }

  private static DeviceCapacity capacity(Device device, String name) {
    return Objects.requireNonNull(device.getCapacity().get(name), name);
  }

  @Test
  void everyCardIsOfferedWholeAndToTakeSharesOfInThePoolOfItsNode(RealCluster cluster) {
    List<String> expected =
        IntStream.range(0, RealCluster.CARDS).boxed().flatMap(i -> Stream.of("gpu-" + i, "gpu-" + i + "-shared"))
            .toList();
    for (String node : cluster.quietNodes()) {
      List<ResourceSlice> slices = slicesOf(cluster, node);
      assertThat(slices).allSatisfy(slice -> assertThat(slice.getSpec().getPool().getName()).isEqualTo(node + "/gpu"));
      assertThat(slices)
          .flatExtracting(slice -> slice.getSpec().getDevices().stream().map(Device::getName).toList())
          .containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  @Test
  void slicesCarryNoCountersWhereTheControllerAllocates(RealCluster cluster) {
    for (String node : cluster.quietNodes()) {
      assertThat(slicesOf(cluster, node))
          .isNotEmpty()
          .allSatisfy(slice -> assertThat(slice.getSpec().getSharedCounters()).isNullOrEmpty())
          .flatExtracting(slice -> slice.getSpec().getDevices())
          .allSatisfy(device -> assertThat(device.getConsumesCounters()).isNullOrEmpty());
    }
  }

  @Test
  void kubeSchedulerIsKeptOffByATaint(RealCluster cluster) {
    assertThat(device(cluster, "gpu-0-shared").getTaints())
        .anySatisfy(
            taint -> {
              assertThat(taint.getKey()).isEqualTo("gpu.partita.dev/allocator");
              assertThat(taint.getValue()).isEqualTo("controller");
              assertThat(taint.getEffect()).isEqualTo("NoSchedule");
            });
  }

  @Test
  void attributesAreNamedAsNvidiasDriverNamesThem(RealCluster cluster) {
    Device card = device(cluster, "gpu-1");
    assertThat(attribute(card, "type").getString()).isEqualTo("gpu");
    assertThat(attribute(card, "mode").getString()).isEqualTo("whole");
    assertThat(attribute(card, "model").getString()).isEqualTo("h200");
    assertThat(attribute(card, "productName").getString()).isEqualTo("NVIDIA H200");
    assertThat(attribute(card, "architecture").getString()).isEqualTo("Hopper");
    assertThat(attribute(card, "uuid").getString()).startsWith("GPU-");
    assertThat(attribute(card, "index").getInt()).isEqualTo(1);
    assertThat(attribute(card, "minor").getInt()).isEqualTo(1);
    assertThat(card.getAttributes()).containsKeys(
        "brand", "cudaComputeCapability", "driverVersion", "cudaDriverVersion", "pciBusID", "nvlinkDomain",
        "resource.kubernetes.io/numaNode");
    assertThat(attribute(card, "cudaComputeCapability").getVersion()).isEqualTo("9.0.0");
  }

  @Test
  void aShareIsAllocatedByMemoryAndByCoresWithADefaultForEach(RealCluster cluster) {
    Device share = device(cluster, "gpu-0-shared");
    assertThat(share.getAllowMultipleAllocations()).isTrue();
    assertThat(attribute(share, "mode").getString()).isEqualTo("shared");
    assertThat(capacity(share, "memory").getValue().getNumericalAmount().longValueExact())
        .isEqualTo(RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED);
    assertThat(capacity(share, "memory").getRequestPolicy().getDefault()).isNotNull();
    assertThat(capacity(share, "cores").getValue().getNumericalAmount().intValueExact()).isEqualTo(100);
    assertThat(capacity(share, "cores").getRequestPolicy().getDefault().getNumericalAmount().intValueExact()).isZero();
    assertThat(device(cluster, "gpu-0").getAllowMultipleAllocations()).isNotEqualTo(true);
  }

  @Test
  void thereIsAClassForSharesForWholeCardsAndForEveryModel(RealCluster cluster) {
    assertThat(cluster.client().resources(DeviceClass.class).list().getItems())
        .extracting(deviceClass -> deviceClass.getMetadata().getName())
        .contains("gpu.partita.dev", "whole.gpu.partita.dev", "h200.gpu.partita.dev");
  }

  @Test
  void gpuNodeTellsWhatItsPluginFound(RealCluster cluster) {
    for (String node : cluster.quietNodes()) {
      GenericKubernetesResource gpuNode =
          cluster.gpuNode(node).get();
      assertThat(gpuNode.<Integer>get("status", "gpuCount")).isEqualTo(RealCluster.CARDS);
      assertThat(gpuNode.<String>get("status", "models")).contains("4x h200");
      assertThat(gpuNode.<String>get("status", "driverVersion")).isEqualTo("580.95.05");
      assertThat(gpuNode.<List<Object>>get("status", "gpus")).hasSize(RealCluster.CARDS);
      assertThat(gpuNode.<Object>get("status", "conditions").toString()).contains("Ready").contains("True");
    }
  }
}
