package dev.partita.controller.replay;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.util.ArrayList;
import java.util.List;

/** Makes GpuNodes as a plugin would report them, without a node. */
public final class PaperNode {
  private PaperNode() {}

  /**
   * @param model of all its cards
   * @param memory bytes of each
   * @param perNuma cards on each NUMA node
   */
  public static GpuNode of(String name, String model, int cards, long memory, int perNuma) {
    List<Gpu> gpus = new ArrayList<>();
    for (int g = 0; g < cards; g++) {
      gpus.add(
          new Gpu(g, g, "GPU-" + name + "-" + g, new GpuProduct(model, model, "Nvidia", "Hopper", "9.0"), memory,
              new GpuTopology("0000:%02x:00.0".formatted(g), "pci0000:%02x".formatted(g), g / Math.max(1, perNuma),
                  null),
              GpuHealth.HEALTHY));
    }
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    node.setSpec(GpuNodeSpec.DEFAULT);
    var ready = new ConditionBuilder().withType(GpuNode.READY).withStatus("True").withReason("Ready").build();
    node.setStatus(new GpuNodeStatus(cards, model, "580.95.05", "13.0", "0.1.0", null, gpus, List.of(ready)));
    return node;
  }
}
