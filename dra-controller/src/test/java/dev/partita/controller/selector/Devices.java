package dev.partita.controller.selector;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.Inventory;
import java.util.List;
import java.util.Objects;

/** An H200 to evaluate selectors on. */
final class Devices {
  private static final List<Device> ALL =
      Objects.requireNonNull(
          Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB)))
              .host("node-0"))
          .devices();

  /** The card as a whole. */
  static final Device WHOLE = ALL.get(0);

  /** The card to take shares of. */
  static final Device SHARED = ALL.get(1);

  private Devices() {}
}
