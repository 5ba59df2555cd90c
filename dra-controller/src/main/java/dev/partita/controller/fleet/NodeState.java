package dev.partita.controller.fleet;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.inventory.GpuHost;
import java.util.List;

/**
 * A node with cards.
 *
 * @param node what the API says of it
 * @param host how the allocator reads that
 * @param cards its cards, by index
 */
public record NodeState(GpuNode node, GpuHost host, List<CardState> cards) {
  public NodeState {
    cards = List.copyOf(cards);
  }

  /** The node's name. */
  public String name() {
    return host.name();
  }
}
