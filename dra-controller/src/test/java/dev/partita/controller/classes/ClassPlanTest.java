package dev.partita.controller.classes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.selector.Verdict;
import java.util.List;
import java.util.Objects;
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
  void opaqueCardsHaveClassesOfTheirOwnAndNoOtherSelectsOne() {
    Inventory inventory = Inventory.EMPTY.refreshed(
        List.of(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(GpuNodes.opaqueCard("node-0", GpuNodes.GIB)))));
    var plan = ClassPlan.of(inventory);
    assertThat(plan.keySet()).containsExactly("accelerator-9.opaque.gpu.partita.dev", "gpu.partita.dev",
        "mig.gpu.partita.dev", "opaque.gpu.partita.dev", "whole.gpu.partita.dev");
    Device device = Objects.requireNonNull(inventory.host("node-0")).devices().getFirst();
    DeviceSelectors selectors = new DeviceSelectors();
    plan.forEach((name, expressions) -> assertThat(expressions.stream()
        .allMatch(selector -> selectors.evaluate(selector.getCel().getExpression(), device).equals(Verdict.TRUE)))
        .as(name).isEqualTo(name.contains("opaque")));
  }

  @Test
  void sharesOfInstancesHaveAClassOfTheirOwnAndNoOtherSelectsOne() {
    GpuNodeSpec asked = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller,
        List.of(GpuNodeSpec.PublishedMode.MigShared), null);
    Gpu cut = GpuNodes.cutShareably(GpuNodes.migCards("node-0", 1).getFirst(), "1g.18gb:0");
    Inventory inventory = Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", asked, List.of(cut))));
    Device shared = Objects.requireNonNull(inventory.host("node-0")).devices().getLast();
    assertThat(shared.name()).hasToString("gpu-0-mig-1g-18gb-0-shared");
    var plan = ClassPlan.of(inventory);
    assertThat(plan).containsKey("shared.mig.gpu.partita.dev");
    DeviceSelectors selectors = new DeviceSelectors();
    plan.forEach((name, expressions) -> assertThat(expressions.stream()
        .allMatch(selector -> selectors.evaluate(selector.getCel().getExpression(), shared).equals(Verdict.TRUE)))
        .as(name).isEqualTo(name.equals("shared.mig.gpu.partita.dev")));
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
