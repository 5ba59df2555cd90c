package dev.partita.controller.inventory;

import dev.partita.api.node.GpuNodeSpec.Allocator;
import java.util.List;
import java.util.Optional;

/**
 * A node with cards.
 *
 * @param name name of the Node and of its GpuNode
 * @param allocator who allocates its devices
 * @param unready why its cards cannot be handed out, for people; empty if they can
 * @param cards by index
 * @param devices what is offered, in the order in which it is published
 */
public record GpuHost(String name, Allocator allocator, Optional<String> unready, List<Card> cards, List<Device> devices) {
  public GpuHost {
    cards = List.copyOf(cards);
    devices = List.copyOf(devices);
  }

  public boolean isReady() {
    return unready.isEmpty();
  }
}
