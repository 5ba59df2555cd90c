package dev.partita.controller.inventory;

import dev.partita.api.node.Gpu;

/**
 * A physical card.
 *
 * @param key node and index
 * @param gpu what the node's plugin reports of it
 * @param sellableMemory bytes that shares of it may hold together: all but the node's reserve
 */
public record Card(CardKey key, Gpu gpu, long sellableMemory) {
  public String model() {
    return gpu.model();
  }
}
