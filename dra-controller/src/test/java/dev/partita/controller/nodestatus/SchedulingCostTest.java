package dev.partita.controller.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class SchedulingCostTest {
  private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");

  @Test
  void countersInALargeClusterBeforeTheRepairAreWarnedOf() {
    assertThat(condition(Allocator.Scheduler, List.of(), 100, OptionalInt.of(36)))
        .hasValueSatisfying(
            warning -> {
              assertThat(warning.getType()).isEqualTo("SlowScheduling");
              assertThat(warning.getStatus()).isEqualTo("True");
              assertThat(warning.getMessage()).contains("this cluster (1.36) has 100", "spec.publish",
                  "spec.allocator");
              assertThat(warning.getLastTransitionTime()).isEqualTo("2026-01-02T03:04:05Z");
            });
  }

  @Test
  void nothingIsSaidWhereTheyCostLittleOrThereAreNone() {
    assertThat(condition(Allocator.Scheduler, List.of(), 99, OptionalInt.of(36))).as("a small cluster").isEmpty();
    assertThat(condition(Allocator.Scheduler, List.of(), 5_000, OptionalInt.of(37))).as("a newer one").isEmpty();
    assertThat(condition(Allocator.Scheduler, List.of(), 5_000, OptionalInt.empty())).as("an unknown one").isEmpty();
    assertThat(condition(Allocator.Scheduler, List.of(PublishedMode.Shared), 5_000, OptionalInt.of(36))).as("one mode")
        .isEmpty();
    assertThat(condition(Allocator.Controller, List.of(), 5_000, OptionalInt.of(36))).as("no counters").isEmpty();
  }

  @Test
  void versionsAreReadAsServersSayThem() {
    assertThat(SchedulingCost.minor("1", "36")).hasValue(36);
    assertThat(SchedulingCost.minor("1", "36+")).hasValue(36);
    assertThat(SchedulingCost.minor("1", "")).isEmpty();
    assertThat(SchedulingCost.minor("2", "1")).isEmpty();
  }

  private static Optional<Condition> condition(
      Allocator allocator,
      List<PublishedMode> modes,
      int nodes,
      OptionalInt minor) {
    GpuNode node = GpuNodes.ready("node-0", new GpuNodeSpec(allocator, modes, null),
        GpuNodes.cards("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
    GpuHost host = Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
    return SchedulingCost.condition(host, nodes, minor, node, NOW);
  }
}
