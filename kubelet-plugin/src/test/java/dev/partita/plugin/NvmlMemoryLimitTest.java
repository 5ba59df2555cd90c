package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.MemoryLimitControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.jna.NvmlLibrary;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** NVML's memory limits, by the simulated driver. */
class NvmlMemoryLimitTest {
  private static final long GIB = 1L << 30;

  @Test
  void aLimitOfACgroupIsSetChangedAndRead() throws IOException, InterruptedException, NvmlException {
    try (TestNode node = TestNode.withCards("node-l", "h200", "615.71.09");
        CardReader nvml = NvmlLibrary.open(library(node, "615.71.09"))) {
      assertThat(nvml.read().cards().getFirst().limitsMemory()).isTrue();
      String card = nvml.read().cards().getFirst().uuid();
      assertThat(nvml.memoryLimit(card, node.root)).isEmpty();
      nvml.limitMemory(card, node.root, 8 * GIB);
      assertThat(nvml.memoryLimit(card, node.root)).hasValue(8 * GIB);
      nvml.limitMemory(card, node.root, 9 * GIB);
      assertThat(nvml.memoryLimit(card, node.root)).hasValue(9 * GIB);
      nvml.limitMemory(card, node.root, MemoryLimitControl.NO_LIMIT);
      assertThat(nvml.memoryLimit(card, node.root)).isEmpty();
      assertThatThrownBy(() -> nvml.limitMemory(card, node.root.resolve("none"), GIB))
          .isInstanceOf(NvmlException.class);
    }
  }

  @Test
  void anOlderDriverHasNone() throws IOException, InterruptedException, NvmlException {
    try (TestNode node = TestNode.withCards("node-l", "h200", "580.95.05");
        CardReader nvml = NvmlLibrary.open(library(node, "580.95.05"))) {
      assertThat(nvml.read().cards().getFirst().limitsMemory()).isFalse();
    }
  }

  private static Path library(TestNode node, String version) {
    return node.driverRoot().resolve("usr/lib/x86_64-linux-gnu/libnvidia-ml.so." + version);
  }
}
