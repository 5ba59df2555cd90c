package dev.partita.controller.inventory;

import dev.partita.api.node.Gpu;

/**
 * A physical card.
 *
 * @param key node and index
 * @param gpu what the node's plugin reports of it
 * @param sellableMemory bytes that shares of it may hold together: all but the node's reserve
 * @param mig which MIG instances can be made of it
 */
public record Card(CardKey key, Gpu gpu, long sellableMemory, MigGeometry mig) {
  public Card(CardKey key, Gpu gpu, long sellableMemory) {
    this(key, gpu, sellableMemory, MigGeometry.of(gpu.migProfiles()));
  }

  public String model() {
    return gpu.model();
  }
}
