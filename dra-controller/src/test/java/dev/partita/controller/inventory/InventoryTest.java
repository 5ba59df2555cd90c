package dev.partita.controller.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class InventoryTest {
  @Test
  void nothingNewKeepsTheSameObjects() {
    Inventory first = Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB)));
    Inventory second = first.refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB)));
    assertThat(second).isSameAs(first);
    Inventory third = second.refreshed(List.of(GpuNodes.ready("node-0", 2, "NVIDIA H200", GpuNodes.GIB)));
    assertThat(third).isNotSameAs(first);
  }

  @Test
  void cardsThatAreAlikeShareWhatIsEqual() {
    Inventory inventory =
        Inventory.EMPTY.refreshed(
            List.of(
                GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB),
                GpuNodes.ready("node-1", 1, "NVIDIA H200", GpuNodes.GIB)));
    Device one = Objects.requireNonNull(inventory.host("node-0")).devices().getFirst();
    Device other = Objects.requireNonNull(inventory.host("node-1")).devices().getFirst();
    assertThat(one.attribute("model").orElseThrow()).isSameAs(other.attribute("model").orElseThrow());
    assertThat(one.attribute("driverVersion").orElseThrow()).isSameAs(other.attribute("driverVersion").orElseThrow());
    assertThat(one.capacities()).isSameAs(other.capacities());
    assertThat(one.attribute("uuid")).isNotEqualTo(other.attribute("uuid"));
  }

  @Test
  void theReserveIsKeptOutOfShares() {
    GpuNodeSpec spec = new GpuNodeSpec(Allocator.Controller, List.of(), new Quantity("512Mi"));
    GpuHost host = host(spec, 2 * GpuNodes.GIB);
    assertThat(capacity(host, 0)).isEqualTo(2 * GpuNodes.GIB);
    assertThat(capacity(host, 1)).isEqualTo(2 * GpuNodes.GIB - (512 << 20));
  }

  @Test
  void aReserveThatLeavesNothingLeavesNoShares() {
    GpuNodeSpec spec = new GpuNodeSpec(Allocator.Controller, List.of(), new Quantity("80Gi"));
    assertThat(host(spec, 2 * GpuNodes.GIB).devices()).extracting(d -> d.name().toString()).containsExactly("gpu-0");
  }

  @Test
  void podsAreEvictedFromAnUnhealthyCardOnlyForTheReasonsThatTheNodeNames() {
    GpuNodeSpec nothing = GpuNodeSpec.DEFAULT;
    assertThat(effect(nothing, "GpuIsLost")).isEqualTo("NoSchedule");
    GpuNodeSpec some =
        new GpuNodeSpec(Allocator.Controller, List.of(), null, null, List.of(), List.of(),
            List.of("GpuIsLost", "XID 48"), null);
    assertThat(effect(some, "GpuIsLost")).isEqualTo("NoExecute");
    assertThat(effect(some, "XID 48")).isEqualTo("NoExecute");
    assertThat(effect(some, "XID 4")).isEqualTo("NoSchedule");
    assertThat(effect(some, "ThermalSlowdown")).isEqualTo("NoSchedule");
    GpuNodeSpec anyXid =
        new GpuNodeSpec(Allocator.Controller, List.of(), null, null, List.of(), List.of(), List.of("XID"), null);
    assertThat(effect(anyXid, "XID 79")).isEqualTo("NoExecute");
    assertThat(effect(anyXid, "GpuIsLost")).isEqualTo("NoSchedule");
  }

  /** Of the taint on each device of a card that is unhealthy for that reason. */
  private static String effect(GpuNodeSpec spec, String reason) {
    var card = GpuNodes.card("node-0", 0, "NVIDIA H200", GpuNodes.GIB, GpuHealth.unhealthy(reason, "why"));
    GpuHost host =
        Objects.requireNonNull(
            Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", spec, List.of(card)))).host("node-0"));
    assertThat(host.devices()).hasSize(2).allMatch(device -> device.taints().size() == 1);
    return host.devices().stream().map(device -> device.taints().getFirst().effect()).distinct()
        .reduce((one, other) -> one + " and " + other).orElseThrow();
  }

  @Test
  void aCardReportedTwiceIsOfferedOnce() {
    var card = GpuNodes.card("node-0", 3, "NVIDIA H200", GpuNodes.GIB, GpuHealth.HEALTHY);
    var node = GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(card, card));
    GpuHost host = Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
    assertThat(host.devices()).extracting(d -> d.name().toString()).containsExactly("gpu-3", "gpu-3-shared");
  }

  @Test
  void requestsAreRoundedAsThePolicySays() {
    var policy = new Capacity.RequestPolicy(0, 0, 100, OptionalLong.of(5));
    assertThat(policy.consumed(0)).hasValue(0);
    assertThat(policy.consumed(1)).hasValue(5);
    assertThat(policy.consumed(10)).hasValue(10);
    assertThat(policy.consumed(98)).hasValue(100);
    assertThat(policy.consumed(101)).isEmpty();
    var exact = new Capacity.RequestPolicy(1000, 10, 1000, OptionalLong.empty());
    assertThat(exact.consumed(1)).hasValue(10);
    assertThat(exact.consumed(777)).hasValue(777);
    assertThat(exact.consumed(Long.MAX_VALUE)).isEmpty();
  }

  private static GpuHost host(GpuNodeSpec spec, long memory) {
    var node = GpuNodes.ready("node-0", spec, GpuNodes.cards("node-0", 1, "NVIDIA H200", memory));
    return Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
  }

  private static long capacity(GpuHost host, int device) {
    return Objects.requireNonNull(host.devices().get(device).capacities().get("memory")).total();
  }
}
