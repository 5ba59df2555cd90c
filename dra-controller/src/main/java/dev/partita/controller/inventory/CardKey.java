package dev.partita.controller.inventory;

/**
 * Names a card by its node and NVML's index there.
 *
 * @param node name of the Node
 * @param index the card's index, from 0
 */
public record CardKey(String node, int index) implements Comparable<CardKey> {
  @Override
  public int compareTo(CardKey other) {
    int byNode = node.compareTo(other.node);
    return byNode != 0 ? byNode : Integer.compare(index, other.index);
  }

  @Override
  public String toString() {
    return "gpu-" + index + " on " + node;
  }
}
