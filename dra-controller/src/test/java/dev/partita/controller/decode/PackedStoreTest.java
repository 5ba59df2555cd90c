package dev.partita.controller.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class PackedStoreTest {
  private final PackedStore<ResourceSlice> store =
      new PackedStore<>(new KubernetesSerialization(), ResourceSlice.class,
          slice -> slice.getSpec().setDevices(List.of()));

  @Test
  void whatIsReadOftenIsLightAndTheWholeIsThereForWhoAsks() {
    store.put("s", slice("s"));
    ResourceSlice light = Objects.requireNonNull(store.get("s"));
    assertThat(light.getMetadata()).isEqualTo(slice("s").getMetadata());
    assertThat(light.getSpec().getNodeName()).isEqualTo("node-0");
    assertThat(light.getSpec().getDevices()).isEmpty();
    assertThat(store.whole("s")).isEqualTo(slice("s"));
  }

  @Test
  void everyReaderHasACopyOfTheWhole() {
    store.put("s", slice("s"));
    Objects.requireNonNull(store.whole("s")).getSpec().setDevices(List.of());
    assertThat(store.whole("s")).isEqualTo(slice("s"));
  }

  @Test
  void whatIsPutAgainReplacesTheWholeAndWhatIsRemovedIsGone() {
    store.put("s", slice("s"));
    ResourceSlice changed = new ResourceSliceBuilder(slice("s")).editSpec().editFirstDevice().withName("gpu-7")
        .endDevice().endSpec().build();
    store.put("s", new ResourceSliceBuilder(changed).build());
    assertThat(store.whole("s")).isEqualTo(changed);
    assertThat(store.remove("s")).isNotNull();
    assertThat(store.whole("s")).isNull();
    assertThat(store.get("s")).isNull();
    assertThat(store.size()).isZero();
  }

  private static ResourceSlice slice(String name) {
    var host =
        Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 8, "NVIDIA H200", GpuNodes.GIB))).host("node-0");
    return new ResourceSliceBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withSpec(SlicePlan.of(Objects.requireNonNull(host)).getFirst())
        .build();
  }
}
