package dev.partita.plugin.grant;

import dev.partita.api.Bytes;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.resize.ShareSize;
import java.util.Optional;

/**
 * A part of a card, to which the hook library limits containers.
 *
 * @param memoryBytes bytes of device memory, those that it has been lent included
 * @param physicalBytes bytes of the card that it may hold, likewise; less than its memory where the node offers more
 *        than its cards have, or the claim oversubscribes what it has
 * @param cores percent of the card, 0 for no limit
 * @param coreLimit how cores are enforced
 * @param priority 0 is the higher one
 * @param resized what a resize gave it of its card, by which the others were reckoned; empty if that is what it was
 *        allocated
 * @param growth how far it may grow, and what it has been lent; empty if it keeps what is set aside for it
 */
public record Share(
    long memoryBytes,
    long physicalBytes,
    int cores,
    CoreLimit coreLimit,
    int priority,
    Optional<ShareSize> resized,
    Optional<Growth> growth) {
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
    if (growth.isPresent() && (growth.get().lentBytes() >= physicalBytes || physicalBytes != memoryBytes)) {
      throw new IllegalArgumentException("a share that grows has all of its memory on the card, some of it its own: "
          + physicalBytes + " of " + memoryBytes + ", " + growth);
    }
  }

  /** A share that has what it was allocated. */
  public Share(long memoryBytes, long physicalBytes, int cores, CoreLimit coreLimit, int priority) {
    this(memoryBytes, physicalBytes, cores, coreLimit, priority, Optional.empty(), Optional.empty());
  }

  /** A share whose memory is all on the card. */
  public Share(long memoryBytes, int cores, CoreLimit coreLimit, int priority) {
    this(memoryBytes, memoryBytes, cores, coreLimit, priority);
  }

  /** Bytes of the card that it has been lent; others get them back when they need them. */
  public long lentBytes() {
    return growth.map(Growth::lentBytes).orElse(0L);
  }

  /** Bytes of the card that are set aside for it, whatever others do. */
  public long guaranteedBytes() {
    return physicalBytes - lentBytes();
  }

  /** Bytes of the card that it may be lent; 0 if it keeps what is set aside for it. */
  public long lendableBytes() {
    return growth.map(its -> Math.max(0, its.mostBytes() - guaranteedBytes())).orElse(0L);
  }

  /**
   * The same with another loan.
   *
   * @param bytes of the card; of a share that may grow, and no more than it may
   */
  public Share lent(long bytes) {
    if (bytes == lentBytes()) {
      return this;
    }
    long all = guaranteedBytes() + bytes;
    return new Share(all, all, cores, coreLimit, priority, resized, growth.map(its -> its.lent(bytes)));
  }

  /** Whether containers are held to a part of the card's time. */
  public boolean limitsCores() {
    return switch (coreLimit) {
      case HARD, SOFT -> cores > 0;
      case NONE -> false;
    };
  }

  /** {@code 8 GiB (4 GiB of it on the card) of NVIDIA H200 (GPU-…) on node-0, at most 25 % of its time}. */
  String words(String card) {
    String physical =
        physicalBytes == memoryBytes ? "" : " (" + Bytes.words(physicalBytes) + " of it on the card)";
    return Bytes.words(memoryBytes) + physical + " of " + card + coresInWords() + growth.map(its -> ", "
        + (its.lentBytes() == 0 ? "" : Bytes.words(its.lentBytes()) + " of it lent, ") + "up to "
        + Bytes.words(its.mostBytes()) + " while no claim needs them").orElse("");
  }

  private String coresInWords() {
    if (cores == 0) {
      return "";
    }
    return switch (coreLimit) {
      case HARD -> ", at most " + cores + " % of its time";
      case SOFT -> ", " + cores + " % of its time, more when it is idle";
      case NONE -> ", " + cores + " % of its time, not enforced";
    };
  }
}
