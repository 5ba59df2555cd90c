package dev.partita.controller.inventory;

import dev.partita.api.gpu.Gpu;
import java.util.List;

/**
 * A physical card.
 *
 * @param key node and index
 * @param gpu what the node's plugin reports of it
 * @param allocatableMemory bytes that shares of it may hold together: all but the node's reserve
 * @param mig which MIG instances can be made of it
 * @param otherDrivers the DRA drivers other than Partita by which claims have it, or a part of it
 */
public record Card(CardKey key, Gpu gpu, long allocatableMemory, MigGeometry mig, List<String> otherDrivers) {
  public Card {
    otherDrivers = List.copyOf(otherDrivers);
  }

  public Card(CardKey key, Gpu gpu, long allocatableMemory) {
    this(key, gpu, allocatableMemory, MigGeometry.of(gpu.migProfiles()), List.of());
  }

  /** Whether somebody else hands it out, or has handed it out, so that it is offered to nobody here. */
  public boolean isServedElsewhere() {
    return !gpu.servedBy().isEmpty() || !otherDrivers.isEmpty();
  }

  public String model() {
    return gpu.model();
  }
}
