package dev.partita.controller.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CardKindTest {
  private static final Gpu PLAIN = card("GPU-1", 0, 0, "nvl", "h200", 140, GpuHealth.HEALTHY);

  @Test
  void whereACardIsAndWhatItIsCalledMakesNoKind() {
    Gpu other = card("GPU-2", 7, 1, "another", "h200", 140, GpuHealth.HEALTHY);
    assertThat(kind("node-1", other)).isEqualTo(kind("node-0", PLAIN)).hasSameHashCodeAs(kind("node-0", PLAIN));
  }

  static Stream<Gpu> ofOtherKinds() {
    return Stream.of(
        card("GPU-1", 0, 0, "nvl", "h100", 140, GpuHealth.HEALTHY),
        card("GPU-1", 0, 0, "nvl", "h200", 141, GpuHealth.HEALTHY),
        card("GPU-1", 0, 0, null, "h200", 140, GpuHealth.HEALTHY),
        card("GPU-1", 0, 0, "nvl", "h200", 140, GpuHealth.unhealthy("Xid", "XID 79")));
  }

  @ParameterizedTest
  @MethodSource("ofOtherKinds")
  void anotherModelMemoryHealthOrAnAttributeThatIsNotThereMakesAnother(Gpu other) {
    assertThat(kind("node-0", other)).isNotEqualTo(kind("node-0", PLAIN));
  }

  private static CardKind kind(String node, Gpu card) {
    GpuHost host = Objects.requireNonNull(
        Inventory.EMPTY.refreshed(List.of(GpuNodes.ready(node, GpuNodeSpec.DEFAULT, List.of(card)))).host(node));
    return new CardKind(host.cards().getFirst().allocatableMemory(),
        host.devices().stream().map(CardKind.DeviceKind::new).toList());
  }

  private static Gpu card(
      String uuid,
      int index,
      int numa,
      @Nullable String nvlink,
      String model,
      int gib,
      GpuHealth health) {
    return new Gpu(index, index, uuid, new GpuProduct("NVIDIA", model, "Nvidia", "Hopper", "9.0"), gib * GpuNodes.GIB,
        new GpuTopology("0000:%02x:00.0".formatted(index), "pci0000:%02x".formatted(index), numa, nvlink), health);
  }
}
