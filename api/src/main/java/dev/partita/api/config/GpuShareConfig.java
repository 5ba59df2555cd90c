package dev.partita.api.config;

import java.util.Collection;
import java.util.Collections;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Partition parameters of a request, beyond its capacities.
 *
 * @param coreLimit how the share's cores are enforced
 * @param priority 0 is the higher one, 1 the default
 * @param memoryPercent of the memory that each card offers, 1 to 100, instead of an amount; empty if the capacity
 *        request says how much
 * @param oversubscribe how much memory the container gets, in percent of what is allocated to it, 100 to 1000: what is
 *        beyond 100 is managed memory, which moves between card and host
 * @param placement how node and card are chosen
 * @param sharing what the claims that have something of one card are held to
 * @param memoryLimit how far the share may grow while nobody else needs it, in bytes of the card; empty if not at all
 */
public record GpuShareConfig(
    CoreLimit coreLimit,
    int priority,
    OptionalInt memoryPercent,
    int oversubscribe,
    Placement placement,
    Sharing sharing,
    OptionalLong memoryLimit) {
  public static final String KIND = "GpuShareConfig";

  /** {@link #oversubscribe} of a share whose memory is all on the card. */
  public static final int NOT_OVERSUBSCRIBED = 100;

  /** Most of {@link #oversubscribe}. */
  public static final int MOST_OVERSUBSCRIBED = 1000;

  /** What a request without any config gets. */
  public static final GpuShareConfig DEFAULT =
      new GpuShareConfig(CoreLimit.HARD, 1, OptionalInt.empty(), NOT_OVERSUBSCRIBED, Placement.DEFAULT);

  /** Of which each claim is held to its part. */
  public GpuShareConfig(
      CoreLimit coreLimit,
      int priority,
      OptionalInt memoryPercent,
      int oversubscribe,
      Placement placement) {
    this(coreLimit, priority, memoryPercent, oversubscribe, placement, Sharing.LIMITS, OptionalLong.empty());
  }

  public GpuShareConfig {
    if (priority != 0 && priority != 1) {
      throw new IllegalArgumentException("priority must be 0 or 1: " + priority);
    }
    if (memoryPercent.isPresent() && (memoryPercent.getAsInt() < 1 || memoryPercent.getAsInt() > 100)) {
      throw new IllegalArgumentException("memoryPercent must be from 1 to 100: " + memoryPercent.getAsInt());
    }
    if (oversubscribe < NOT_OVERSUBSCRIBED || oversubscribe > MOST_OVERSUBSCRIBED) {
      throw new IllegalArgumentException("oversubscribe must be from 100 to 1000: " + oversubscribe);
    }
  }

  /**
   * How a share's cores are enforced. The names are those that a user writes: {@code Hard}, {@code Soft}, {@code None}.
   */
  public enum CoreLimit {
    /** Never above the share. */
    HARD,
    /** Idle time of others may be used. */
    SOFT,
    /** Not enforced. */
    NONE
  }

  /** What the claims that have something of one card are held to. */
  public sealed interface Sharing {
    /** Each claim is held to its part of the card's memory and time. It is written {@code strategy: Limits}. */
    record Limits() implements Sharing {}

    /**
     * No claim is held to anything. The driver gives every program the card in turn, and memory to who comes first. It
     * is written {@code strategy: TimeSlicing}.
     *
     * @param interval how long a turn is to be
     */
    record TimeSlicing(TimeSlice interval) implements Sharing {}

    /**
     * The claims' programs run on the card at the same time, through one server of NVIDIA's Multi-Process Service. Each
     * claim is held to its memory, and MPS is asked to keep its programs to a part of the card's multiprocessors. It is
     * written {@code strategy: MPS}.
     */
    record Mps() implements Sharing {}

    /** What a config means that says nothing of it. */
    Sharing LIMITS = new Limits();

    /** At the same time, by MPS. */
    Sharing MPS = new Mps();
  }

  /**
   * How long a program has the card before the next one has its turn. NVIDIA documents names, but no times. The names
   * are those that a user writes: {@code Default}, {@code Short}, {@code Medium}, {@code Long}.
   */
  public enum TimeSlice {
    /** The driver's default. A claim that asks for it, or for nothing, is content with what another one asks for. */
    DEFAULT(0),
    /** What a program waits for others is least. */
    SHORT(1),
    /** Between the two. */
    MEDIUM(2),
    /** The card changes least often between programs. */
    LONG(3);

    private final int number;

    TimeSlice(int number) {
      this.number = number;
    }

    /** The number that {@code nvidia-smi compute-policy --set-timeslice} has for it. */
    public int number() {
      return number;
    }
  }

  /**
   * How node and card are chosen.
   *
   * @param nodes whether to fill nodes one after the other, or to spread over them, or neither for its own sake
   * @param gpus the same for the cards of a node
   * @param numa whether the cards of a claim share a NUMA node
   * @param nvlink whether the cards of a claim reach each other over NVLink
   * @param models which models, by {@link dev.partita.api.device.DeviceAttribute#MODEL}
   * @param uuids which cards, by UUID
   * @param exclusive whether nobody else may have anything of the card
   */
  public record Placement(
      Packing nodes,
      Packing gpus,
      Affinity numa,
      Affinity nvlink,
      Choice models,
      Choice uuids,
      boolean exclusive) {
    public static final Placement DEFAULT =
        new Placement(Packing.AUTO, Packing.AUTO, Affinity.AUTO, Affinity.AUTO);

    /** On any card, beside others. */
    public Placement(Packing nodes, Packing gpus, Affinity numa, Affinity nvlink) {
      this(nodes, gpus, numa, nvlink, Choice.ANY, Choice.ANY, false);
    }

    /** The same packed in another way. */
    public Placement packed(Packing ofNodes, Packing ofGpus) {
      return new Placement(ofNodes, ofGpus, numa, nvlink, models, uuids, exclusive);
    }

    /** The same on none of these models' cards either. */
    public Placement avoiding(Collection<String> more) {
      SortedSet<String> avoid = new TreeSet<>(models.avoid());
      avoid.addAll(more);
      return new Placement(nodes, gpus, numa, nvlink, new Choice(models.choose(), avoid), uuids, exclusive);
    }

    /** The same on a card of its own. */
    public Placement alone() {
      return new Placement(nodes, gpus, numa, nvlink, models, uuids, true);
    }
  }

  /**
   * Which values will do.
   *
   * @param choose one of these; empty for any
   * @param avoid and none of these
   */
  public record Choice(SortedSet<String> choose, SortedSet<String> avoid) {
    public static final Choice ANY = new Choice(Collections.emptySortedSet(), Collections.emptySortedSet());

    public Choice {
      choose = Collections.unmodifiableSortedSet(new TreeSet<>(choose));
      avoid = Collections.unmodifiableSortedSet(new TreeSet<>(avoid));
    }

    /** Whether every value will do. */
    public boolean isAny() {
      return choose.isEmpty() && avoid.isEmpty();
    }

    /** Whether the value is one of those chosen, or none is. */
    public boolean chooses(String value) {
      return choose.isEmpty() || choose.contains(value);
    }

    public boolean avoids(String value) {
      return avoid.contains(value);
    }

    /** Whether the value will do. */
    public boolean allows(String value) {
      return chooses(value) && !avoids(value);
    }
  }

  /**
   * How full nodes or cards get. The names are those that a user writes: {@code Auto}, {@code Binpack}, {@code Spread}.
   */
  public enum Packing {
    /**
     * Where it leaves most use for what pods are expected to ask for, going by what they have asked for; else like
     * {@link #BINPACK}.
     */
    AUTO,
    /** One after the other. */
    BINPACK,
    /** Where most is free. */
    SPREAD
  }

  /**
   * Whether the cards of a claim belong together. The names are those that a user writes: {@code None}, {@code Auto},
   * {@code Preferred}, {@code Required}.
   */
  public enum Affinity {
    /** It does not matter. */
    NONE,
    /** Where the node leaves a choice of cards; which node it is goes by how nodes are packed. */
    AUTO,
    /** Before all else of the placement: a node where they do, if there is one. */
    PREFERRED,
    /** On a node where they do, or not at all. */
    REQUIRED
  }
}
