package dev.partita.plugin.allocation;

import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the cards of one claim are what its configs demand. The controller makes sure of that. kube-scheduler
 * does not, for it reads no configs, and a person who writes an allocation by hand may not.
 */
final class PlacementCheck {
  private final Allocator allocator;
  private @Nullable Gpu near;
  private @Nullable Gpu linked;

  /** @param allocator who allocates on this node */
  PlacementCheck(Allocator allocator) {
    this.allocator = allocator;
  }

  /**
   * What of a placement a card breaks, after the claim's cards that were asked about before it. The text goes on where
   * a text that begins with the device ends. Empty if it breaks nothing.
   */
  Optional<String> brokenBy(Gpu card, Placement placement) {
    if (!placement.models().allows(card.model())) {
      return Optional.of(
          " is of model " + card.model() + ", against its config's placement.models" + hint("select models by CEL"));
    }
    if (!placement.uuids().allows(card.uuid())) {
      return Optional
          .of(" is of card " + card.uuid() + ", against its config's placement.uuids" + hint("select cards by CEL"));
    }
    // A card's place may be reported otherwise later: what the controller once allocated stays.
    return allocator == Allocator.Controller ? Optional.empty() : apart(card, placement);
  }

  private Optional<String> apart(Gpu card, Placement placement) {
    if (placement.numa() == Affinity.REQUIRED) {
      Gpu first = Objects.requireNonNullElse(near, card);
      near = first;
      if (isApart(first, card, Gpu::numaNode)) {
        return Optional.of(" is on another NUMA node than the claim's other cards, against its config's placement.numa"
            + hint("use matchAttribute"));
      }
    }
    if (placement.nvlink() == Affinity.REQUIRED) {
      Gpu first = Objects.requireNonNullElse(linked, card);
      linked = first;
      if (isApart(first, card, Gpu::nvlinkDomain)) {
        return Optional.of(" has no NVLink to the claim's other cards, against its config's placement.nvlink"
            + hint("use matchAttribute"));
      }
    }
    return Optional.empty();
  }

  /** Cards whose place is not known count as apart. */
  private static boolean isApart(Gpu first, Gpu card, Function<Gpu, @Nullable Object> place) {
    @Nullable Object its = place.apply(card);
    return !first.uuid().equals(card.uuid()) && (its == null || !its.equals(place.apply(first)));
  }

  private String hint(String instead) {
    return allocator == Allocator.Controller
        ? ""
        : ": kube-scheduler allocated it, which reads no configs; " + instead
            + ", or have the controller allocate on this node";
  }
}
