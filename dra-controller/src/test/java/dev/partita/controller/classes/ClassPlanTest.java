package dev.partita.controller.classes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuProduct;
import dev.partita.api.node.GpuTopology;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Inventory;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClassPlanTest {
  @Test
  void everyModelHasAClassBesideTheTwoGeneralOnes() {
    Inventory inventory =
        Inventory.EMPTY.refreshed(
            List.of(
                GpuNodes.ready("node-0", 2, "NVIDIA H200", GpuNodes.GIB),
                GpuNodes.ready("node-1", 1, "Tesla T4", GpuNodes.GIB)));
    var plan = ClassPlan.of(inventory);
    assertThat(plan.keySet())
        .containsExactly("gpu.partita.dev", "h200.gpu.partita.dev", "mig.gpu.partita.dev", "t4.gpu.partita.dev",
            "whole.gpu.partita.dev");
    assertThat(plan.get("h200.gpu.partita.dev"))
        .singleElement()
        .satisfies(
            selector -> assertThat(selector.getCel().getExpression())
                .isEqualTo(
                    "device.driver == \"gpu.partita.dev\" && device.attributes[\"gpu.partita.dev\"].mode == \"shared\""
                        + " && device.attributes[\"gpu.partita.dev\"].model == \"h200\""));
  }

  @Test
  void aModelThatIsNoNameMakesNoClassAndNoExpression() {
    Gpu hostile =
        new Gpu(0, 0, "GPU-1", new GpuProduct("?", "x\" || true || \"", "b", "a", "9.0"), GpuNodes.GIB,
            GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
    Inventory inventory =
        Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(hostile))));
    assertThat(ClassPlan.of(inventory).keySet()).containsExactly("gpu.partita.dev", "mig.gpu.partita.dev",
        "whole.gpu.partita.dev");
  }
}
