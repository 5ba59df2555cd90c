package dev.partita.controller.fleet;

import dev.partita.controller.booking.Account;

/**
 * The whole fleet in figures; memory in bytes, cores in percent of a card, so that 250 are those of two and a half
 * cards.
 *
 * @param nodes that have cards
 * @param nodesReady of them, those whose cards can be handed out
 * @param cards of all nodes
 * @param cardsAvailable of them, those of which something may be allocated now
 * @param memory that shares of the cards may hold together
 * @param memoryAllocated what of it claims have, or their nodes hold for claims that are gone
 * @param memoryUsed what of that their processes hold, as far as it is known
 * @param cores of all cards together
 * @param coresAllocated what of it is set aside for claims
 * @param coresUsed what of it their processes had, as far as it is known
 */
public record Totals(
    int nodes,
    int nodesReady,
    int cards,
    int cardsAvailable,
    long memory,
    long memoryAllocated,
    long memoryUsed,
    long cores,
    long coresAllocated,
    long coresUsed) {
  /** Adds the cards up. */
  public static Totals of(Fleet fleet) {
    Totals sum = new Totals(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    for (NodeState node : fleet.nodes()) {
      sum = sum.plusNode(node);
      for (CardState card : node.cards()) {
        sum = sum.plus(card);
      }
    }
    return sum;
  }

  private Totals plusNode(NodeState node) {
    return new Totals(nodes + 1, nodesReady + (node.host().isReady() ? 1 : 0), cards, cardsAvailable, memory,
        memoryAllocated, memoryUsed, cores, coresAllocated, coresUsed);
  }

  private Totals plus(CardState card) {
    return new Totals(nodes, nodesReady, cards + 1,
        cardsAvailable + (card.standing() == CardStanding.Available ? 1 : 0), memory + card.card().allocatableMemory(),
        memoryAllocated + card.memoryAllocated(), memoryUsed + card.memoryUsed().orElse(0), cores + Account.CORES,
        coresAllocated + card.coresAllocated(), coresUsed + card.coresUsed().orElse(0));
  }
}
