package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.jna.NvmlLibrary;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** NVML's lists of processes, by the simulated driver. */
class NvmlProcessListsTest {
  private static final int UNKNOWN = 999; // NVML_ERROR_UNKNOWN

  @Test
  void aCardThatHasNoListOfMpsClientsTellsWhoUsesItAllTheSame()
      throws IOException, InterruptedException, NvmlException {
    try (TestNode node = TestNode.withCards("node-v", "h200x1"); CardReader nvml = open(node)) {
      String card = nvml.read().cards().getFirst().uuid();
      for (String kind : List.of("MPSCompute", "Graphics")) {
        fault(node, kind, NvmlException.NOT_SUPPORTED); // as before Volta
      }
      assertThat(nvml.processes()).containsOnlyKeys(card);
      assertThat(nvml.users(card)).isEmpty();
    }
  }

  @Test
  void aListThatTheCardHasAndDoesNotTellLeavesNobodyKnown() throws IOException, InterruptedException, NvmlException {
    try (TestNode node = TestNode.withCards("node-v", "h200x1"); CardReader nvml = open(node)) {
      String card = nvml.read().cards().getFirst().uuid();
      fault(node, "MPSCompute", UNKNOWN);
      assertThat(nvml.processes()).isEmpty();
      assertThatThrownBy(() -> nvml.users(card)).isInstanceOf(NvmlException.class);
    }
  }

  @Test
  void aCardWithoutAListOfComputeProcessesTellsNothing() throws IOException, InterruptedException, NvmlException {
    try (TestNode node = TestNode.withCards("node-v", "h200x1"); CardReader nvml = open(node)) {
      String card = nvml.read().cards().getFirst().uuid();
      fault(node, "Compute", NvmlException.NOT_SUPPORTED);
      assertThat(nvml.processes()).isEmpty();
      assertThatThrownBy(() -> nvml.users(card)).isInstanceOf(NvmlException.class);
    }
  }

  private static CardReader open(TestNode node) throws NvmlException {
    return NvmlLibrary.open(node.driverRoot().resolve("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05"));
  }

  private static void fault(TestNode node, String kind, int error) throws IOException, InterruptedException {
    node.simulator("fault", "--root", node.driverRoot().toString(), "--function",
        "nvmlDeviceGet" + kind + "RunningProcesses_v3", "--error", String.valueOf(error));
  }
}
