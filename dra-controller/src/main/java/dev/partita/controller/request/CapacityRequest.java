package dev.partita.controller.request;

import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig;
import java.util.OptionalLong;

/**
 * How much a request wants of each of its devices, and what it is held to.
 *
 * @param memory how much memory
 * @param cores percent of the card's time; empty for what the device's policy says, which is none
 * @param oversubscribe how much memory the container gets, in percent of what a share has of the card; 100 for no more
 *        than that
 * @param sharing what those are held to who have something of one card
 */
public record CapacityRequest(MemoryRequest memory, OptionalLong cores, int oversubscribe, Sharing sharing) {
  /** Of which each claim is held to its part. */
  public CapacityRequest(MemoryRequest memory, OptionalLong cores, int oversubscribe) {
    this(memory, cores, oversubscribe, Sharing.LIMITS);
  }

  /** Of which the container gets no more memory than the share has of the card. */
  public CapacityRequest(MemoryRequest memory, OptionalLong cores) {
    this(memory, cores, GpuShareConfig.NOT_OVERSUBSCRIBED);
  }

  /** Memory in bytes and cores in percent, or nothing said. */
  public static CapacityRequest of(OptionalLong memory, OptionalLong cores) {
    return new CapacityRequest(MemoryRequest.of(memory), cores);
  }
}
