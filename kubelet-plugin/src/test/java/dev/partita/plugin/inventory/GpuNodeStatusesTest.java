package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.NodeSetup;
import dev.partita.api.node.OtherDriverDevice;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuNodeStatusesTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private static final NodeSetup SETUP = new NodeSetup(2, "/var/run/cdi", null, true, "/opt/partita", null, true);

  @Test
  void cardsOfAnEarlierPluginStayInTheStatusAsUnhealthyWhileNvmlDoesNotAnswer() {
    Gpu gpu =
        new Gpu(0, 0, "GPU-0", GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"), 141L << 30,
            GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
    GpuNodeStatus earlier =
        new GpuNodeStatus(1, "1x h200", "580.1", "13.0", "old", "uid-old", List.of(gpu), List.of());
    GpuNodeStatus status =
        GpuNodeStatuses.of(Inventory.NoCards.silent(Duration.ofMinutes(1)), List.of(), SETUP, earlier, "new", "uid-new",
            NOW);
    assertThat(status.gpus()).singleElement().satisfies(one -> {
      assertThat(one.uuid()).isEqualTo(gpu.uuid());
      assertThat(one.health().reason()).isEqualTo("NvmlDoesNotAnswer");
    });
    assertThat(status.isReady()).isFalse();
    assertThat(status.conditions().getFirst().getMessage()).startsWith("NVML does not answer").contains("60 s");
    assertThat(status.pluginVersion()).isEqualTo("new");
    assertThat(status.setup()).isEqualTo(SETUP);
  }

  @Test
  void whatTheControllerSaysOfOtherDriversStays() {
    List<OtherDriverDevice> said = List.of(new OtherDriverDevice("GPU-0", "gpu.nvidia.com", "node-0", "gpu-0", 1));
    GpuNodeStatus earlier = new GpuNodeStatus(0, "", null, null, "old", "uid-old", List.of(), List.of())
        .withOtherDrivers(said);
    assertThat(GpuNodeStatuses.of(Inventory.NoCards.silent(Duration.ofMinutes(1)), List.of(), SETUP, earlier, "new",
        "uid-new", NOW).otherDrivers()).isEqualTo(said);
  }

  @Test
  void aNodeThatNobodyHasReadHasNoCardsWhileNvmlDoesNotAnswer() {
    GpuNodeStatus status =
        GpuNodeStatuses.of(Inventory.NoCards.silent(Duration.ofMinutes(1)), List.of(), SETUP, null, "new", null, NOW);
    assertThat(status.gpus()).isEmpty();
    assertThat(status.conditions().getFirst().getReason()).isEqualTo("NvmlDoesNotAnswer");
  }
}
