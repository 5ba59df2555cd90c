package dev.partita.controller.stream;

import dev.partita.controller.request.PodNeeds;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * A cluster and the pods that arrive there one after the other.
 *
 * @param name for people; may be empty
 * @param pods in order of their arrival
 */
public record ClusterStream(String name, List<StreamNode> nodes, List<StreamPod> pods) {
  /** What {@link Among#matchAttribute} may be. */
  public static final Set<String> ATTRIBUTES = Set.of("numaNode", "model");

  private static final long MIB = 1L << 20;

  /** Memory of a thousandth of a card, where a stream speaks of cards in thousandths only. */
  static final long MILLI_MEMORY = 64 * MIB;

  /** Memory of a card of which the stream does not say it. */
  static final long USUAL_MEMORY = 1000 * MILLI_MEMORY;

  public ClusterStream {
    nodes = List.copyOf(nodes);
    pods = List.copyOf(pods);
  }

  /**
   * A node.
   *
   * @param model of its cards; empty for a node without
   * @param gpus how many cards
   * @param gpuMemory bytes of each
   * @param gpusPerNuma how many of them a NUMA node has
   * @param capacity what pods may request of it together
   */
  public record StreamNode(
      String node,
      String model,
      int gpus,
      long gpuMemory,
      int gpusPerNuma,
      PodNeeds capacity) {
    /** Cards of the usual memory, all on one NUMA node. */
    public StreamNode(String node, String model, int gpus, PodNeeds capacity) {
      this(node, model, gpus, USUAL_MEMORY, gpus, capacity);
    }
  }

  /**
   * A pod.
   *
   * @param cards what it asks for of cards
   * @param needs what it requests of its node
   * @param arrival seconds after the stream's begin
   * @param duration for how many seconds it keeps what it has, once it has a place; empty for ever
   */
  public record StreamPod(String pod, Cards cards, PodNeeds needs, double arrival, OptionalDouble duration) {
    /** One that never leaves. */
    public StreamPod(String pod, Cards cards, PodNeeds needs, double arrival) {
      this(pod, cards, needs, arrival, OptionalDouble.empty());
    }
  }

  /** What a pod asks for of cards. */
  public sealed interface Cards {
    /** How many. */
    int count();

    /** Thousandths of cards, where a card has the usual memory. */
    default long milli() {
      return switch (this) {
        case None() -> 0;
        case Whole whole -> 1000L * whole.count();
        case Share share -> share.count() * Math.max(share.memory() / MILLI_MEMORY, 10L * share.cores());
      };
    }

    /** None. */
    record None() implements Cards {
      @Override
      public int count() {
        return 0;
      }
    }

    /** Whole cards of one node. */
    record Whole(int count, Among among) implements Cards {}

    /**
     * Shares of so many different cards of one node.
     *
     * @param memory bytes of each card
     * @param cores percent of each card's time
     */
    record Share(int count, long memory, int cores, Among among) implements Cards {}
  }

  /**
   * Which cards will do.
   *
   * @param models any of these; empty for any at all
   * @param matchAttribute what they have in common, by the name that constraints of a claim have it by: the NUMA node,
   *        or what they are; empty for nothing
   */
  public record Among(List<String> models, Optional<String> matchAttribute) {
    public static final Among ALL = new Among(List.of(), Optional.empty());

    public Among {
      models = List.copyOf(models);
    }
  }

  /** Cards there are. */
  public int gpus() {
    return nodes.stream().mapToInt(StreamNode::gpus).sum();
  }

  /** Seconds from the begin to the last arrival. */
  public double lastArrival() {
    return pods.isEmpty() ? 0 : pods.getLast().arrival();
  }

  /** Whether any pod leaves. */
  public boolean hasDepartures() {
    return pods.stream().anyMatch(pod -> pod.duration().isPresent());
  }
}
