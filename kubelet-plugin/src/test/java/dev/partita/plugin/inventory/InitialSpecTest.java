package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InitialSpecTest {
  @ParameterizedTest
  @CsvSource({"Scheduler, Scheduler", "Controller, Controller", "scheduler, Controller", "'', Controller",
    "Unknown, Controller", "Scheduler.Controller, Controller"})
  void aLabelSaysWhoAllocatesANewNodesDevices(String label, GpuNodeSpec.Allocator allocator) {
    assertThat(of(Map.of("gpu.partita.dev/allocator", label))).isEqualTo(new GpuNodeSpec(allocator, List.of(), null));
  }

  @ParameterizedTest
  @CsvSource({"Shared, Shared", "Mig.Whole, Mig Whole", "Shared.Shared, Shared", "Whole.shared, ''", "Whole., ''",
    "'', ''", "Whole.Unknown, ''"})
  void aLabelSaysInWhichModesANewNodesCardsAreOffered(String label, String modes) {
    assertThat(of(Map.of("gpu.partita.dev/publish", label)).publish()).extracting(PublishedMode::name)
        .containsExactly(modes.isEmpty() ? new String[0] : modes.split(" "));
  }

  @Test
  void aLabelThatSaysNothingLeavesTheOtherAsItIs() {
    assertThat(of(Map.of("gpu.partita.dev/allocator", "nobody", "gpu.partita.dev/publish", "Whole")))
        .isEqualTo(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(PublishedMode.Whole), null));
    assertThat(of(Map.of())).isEqualTo(GpuNodeSpec.DEFAULT);
  }

  private static GpuNodeSpec of(Map<String, String> labels) {
    return InitialSpec.of(new NodeBuilder().withNewMetadata().withName("n").withLabels(labels).endMetadata().build());
  }
}
