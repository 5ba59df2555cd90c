package dev.partita.api.config;

import java.util.OptionalInt;

/**
 * Partition parameters of a request, beyond its capacities.
 *
 * @param coreLimit how the share's cores are enforced
 * @param priority 0 is the higher one, 1 the default
 * @param placement how node and card are chosen
 * @param memoryPercent of the memory that each card offers, 1 to 100, instead of an amount; empty if the capacity request says
 *     how much
 */
public record GpuShareConfig(CoreLimit coreLimit, int priority, Placement placement, OptionalInt memoryPercent) {
  public static final String KIND = "GpuShareConfig";

  /** What a request without any config gets. */
  public static final GpuShareConfig DEFAULT = new GpuShareConfig(CoreLimit.HARD, 1, Placement.DEFAULT, OptionalInt.empty());

  public GpuShareConfig {
    if (priority != 0 && priority != 1) {
      throw new IllegalArgumentException("priority must be 0 or 1: " + priority);
    }
    if (memoryPercent.isPresent() && (memoryPercent.getAsInt() < 1 || memoryPercent.getAsInt() > 100)) {
      throw new IllegalArgumentException("memoryPercent must be from 1 to 100: " + memoryPercent.getAsInt());
    }
  }

  /** How a share's cores are enforced. The names are those that a user writes: {@code Hard}, {@code Soft}, {@code None}. */
  public enum CoreLimit {
    /** Never above the share. */
    HARD,
    /** Idle time of others may be used. */
    SOFT,
    /** Not enforced. */
    NONE
  }

  /**
   * How node and card are chosen.
   *
   * @param nodes whether to fill nodes one after the other, or to spread over them, or neither for its own sake
   * @param gpus the same for the cards of a node
   * @param numa whether the cards of a claim share a NUMA node
   * @param nvlink whether the cards of a claim reach each other over NVLink
   */
  public record Placement(Packing nodes, Packing gpus, Affinity numa, Affinity nvlink) {
    public static final Placement DEFAULT =
        new Placement(Packing.AUTO, Packing.AUTO, Affinity.PREFERRED, Affinity.PREFERRED);
  }

  /** How full nodes or cards get. The names are those that a user writes: {@code Auto}, {@code Binpack}, {@code Spread}. */
  public enum Packing {
    /** Where it leaves most use for what pods are expected to ask for, going by what they have asked for; else like {@link #BINPACK}. */
    AUTO,
    /** One after the other. */
    BINPACK,
    /** Where most is free. */
    SPREAD
  }

  public enum Affinity {
    NONE,
    PREFERRED,
    REQUIRED
  }
}
