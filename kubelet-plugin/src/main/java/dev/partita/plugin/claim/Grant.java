package dev.partita.plugin.claim;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import java.util.List;
import java.util.Optional;

/**
 * One device of a claim.
 *
 * @param requests the claim's requests that it answers, without subrequests
 * @param device the device's name in its pool
 * @param shareId the allocation's shareID, in lower case
 * @param card the card behind it
 * @param use what the claim may do with the card
 */
public record Grant(List<String> requests, String device, Optional<String> shareId, CardIdentity card, Use use) {
  public Grant {
    requests = List.copyOf(requests);
  }

  /** Names the share in paths and CDI names; unique in the claim. */
  public String shareKey() {
    return shareId.orElse(device);
  }

  /** What the claim may do with the card. */
  public sealed interface Use {}

  /**
   * All of it.
   *
   * @param adminAccess besides whoever else has it
   */
  public record Whole(boolean adminAccess) implements Use {}

  /**
   * A MIG instance of it.
   *
   * @param profile the name, such as 1g.18gb
   * @param start first memory slice
   * @param size memory slices
   * @param memoryBytes bytes of device memory
   */
  public record Mig(String profile, int start, int size, long memoryBytes) implements Use {
    public Mig {
      if (profile.isEmpty() || start < 0 || size < 1 || memoryBytes <= 0) {
        throw new IllegalArgumentException(
            "no MIG instance: " + profile + " of " + size + " memory slices from " + start);
      }
    }

    /** Whether the two have a memory slice in common. */
    public boolean overlaps(Mig other) {
      return start < other.start + other.size && other.start < start + size;
    }
  }

  /**
   * A share of it.
   *
   * @param memoryBytes bytes of device memory
   * @param physicalBytes bytes of the card that it may hold; less than its memory where the node sells more than its
   *        cards have, or the claim oversubscribes what it has
   * @param cores percent of the card, 0 for no limit
   * @param coreLimit how cores are enforced
   * @param priority 0 is the higher one
   * @param exclusive whether nobody else may have anything of the card
   */
  public record Share(
      long memoryBytes,
      long physicalBytes,
      int cores,
      CoreLimit coreLimit,
      int priority,
      boolean exclusive) implements Use {
    /**
     * The most memory that one share can have, 2 TiB less a unit: PARTITA_UNITS_MAX of hook-lib's usage_region.h, which
     * is all that a ledger can count.
     */
    public static final long MOST_BYTES = 0xffff_ffffL * 512;

    public Share {
      if (memoryBytes <= 0) {
        throw new IllegalArgumentException("a share has memory: " + memoryBytes);
      }
      if (physicalBytes <= 0 || physicalBytes > memoryBytes) {
        throw new IllegalArgumentException(
            "a share holds some of its memory on the card, and no more than that: " + physicalBytes);
      }
      if (cores < 0 || cores > 100) {
        throw new IllegalArgumentException("cores are a percentage: " + cores);
      }
    }

    /** A share whose memory is all on the card, where others may be. */
    public Share(long memoryBytes, int cores, CoreLimit coreLimit, int priority) {
      this(memoryBytes, memoryBytes, cores, coreLimit, priority, false);
    }
  }

  /** The MIG instance, if it is one. */
  public Optional<Mig> mig() {
    return use instanceof Mig mig ? Optional.of(mig) : Optional.empty();
  }

  /** The share, if it is one. */
  public Optional<Share> share() {
    return use instanceof Share share ? Optional.of(share) : Optional.empty();
  }
}
