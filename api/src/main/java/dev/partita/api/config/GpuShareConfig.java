package dev.partita.api.config;

/**
 * Partition parameters of a request, beyond its capacities.
 *
 * @param coreLimit how the share's cores are enforced
 * @param priority 0 is the higher one, 1 the default
 * @param placement how node and card are chosen
 */
public record GpuShareConfig(CoreLimit coreLimit, int priority, Placement placement) {
  public static final String KIND = "GpuShareConfig";

  /** What a request without any config gets. */
  public static final GpuShareConfig DEFAULT = new GpuShareConfig(CoreLimit.HARD, 1, Placement.DEFAULT);

  public GpuShareConfig {
    if (priority != 0 && priority != 1) {
      throw new IllegalArgumentException("priority must be 0 or 1: " + priority);
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
   * @param nodes whether to fill nodes one after the other or to spread over them
   * @param gpus the same for the cards of a node
   * @param numa whether the cards of a claim share a NUMA node
   * @param nvlink whether the cards of a claim reach each other over NVLink
   */
  public record Placement(Packing nodes, Packing gpus, Affinity numa, Affinity nvlink) {
    public static final Placement DEFAULT =
        new Placement(Packing.BINPACK, Packing.BINPACK, Affinity.PREFERRED, Affinity.PREFERRED);
  }

  public enum Packing {
    BINPACK,
    SPREAD
  }

  public enum Affinity {
    NONE,
    PREFERRED,
    REQUIRED
  }
}
