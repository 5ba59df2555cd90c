package dev.partita.controller.replay;

import dev.partita.controller.allocate.Allocator;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.booking.HostCapacities.Capacity;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.replay.ClusterStream.StreamNode;
import dev.partita.controller.replay.ClusterStream.StreamPod;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.List;
import java.util.Optional;
import java.util.function.ObjIntConsumer;

/**
 * Places the pods of a stream, one by one as they arrive, with the controller's allocator, books and demand history. In
 * a cluster kube-scheduler places pods that ask for no GPU; here this does.
 */
public final class StreamRun {
  private static final long MIB = 1L << 20;

  /** Memory of a thousandth of a card: streams speak of cards in thousandths only. */
  private static final long MILLI_MEMORY = 64 * MIB;

  private final ClusterStream stream;
  private final Others others;
  private final Inventory inventory;
  private final HostCapacities capacities = new HostCapacities();
  private final DemandHistory mix = new DemandHistory();
  private final Books books = new Books();
  private final FreeCards cards = new FreeCards(books, capacities, mix);
  private final Allocator allocator = new Allocator(new DeviceSelectors());

  /** Who places pods that ask for no GPU. */
  public enum Others {
    /** The allocator: where they take least from pods with GPUs. */
    ALLOCATOR,
    /** As kube-scheduler's score LeastAllocated does: where most CPU and memory is free in proportion. */
    LEAST_ALLOCATED
  }

  /**
   * Where a pod went.
   *
   * @param node name; empty if it fitted nowhere
   * @param gpus indexes of its cards
   */
  public record Answer(Optional<String> node, List<Integer> gpus) {
    static final Answer NONE = new Answer(Optional.empty(), List.of());
  }

  /**
   * What came of a stream.
   *
   * @param gpus cards there are
   * @param placed pods with GPUs that found a place
   * @param failed pods of any kind that did not
   * @param askedMilli thousandths of cards that were asked for
   * @param usedMilli thousandths of cards that are in use in the end
   * @param firstFailureMilli how many thousandths had been asked for when the first pod found no place
   * @param nsPerDecision mean time of a decision, ns
   */
  public record Summary(
      int gpus,
      int placed,
      int failed,
      long askedMilli,
      long usedMilli,
      Optional<Long> firstFailureMilli,
      long nsPerDecision) {}

  private StreamRun(ClusterStream stream, Others others) {
    this.stream = stream;
    this.others = others;
    this.inventory =
        Inventory.EMPTY.refreshed(
            stream.nodes().stream()
                .map(node -> PaperNode.of(node.node(), node.model(), node.gpus(), 1000 * MILLI_MEMORY, node.gpus()))
                .toList());
    for (StreamNode node : stream.nodes()) {
      PodNeeds all = new PodNeeds(node.cpuMilli(), node.memoryMiB() * MIB);
      capacities.put(node.node(), new Capacity(all, all));
    }
  }

  /**
   * Places all pods.
   *
   * @param answers takes the answer to each pod, in order, with the pod's number from 0
   */
  public static Summary play(ClusterStream stream, Others others, ObjIntConsumer<Answer> answers) {
    return new StreamRun(stream, others).play(answers);
  }

  private Summary play(ObjIntConsumer<Answer> answers) {
    int placed = 0;
    int failed = 0;
    long asked = 0;
    long used = 0;
    long took = 0;
    Optional<Long> firstFailure = Optional.empty();
    for (int i = 0; i < stream.pods().size(); i++) {
      StreamPod pod = stream.pods().get(i);
      long milli = (long) pod.gpus() * pod.milli();
      asked += milli;
      long start = System.nanoTime();
      Answer answer = place(pod, "pod-" + i);
      took += System.nanoTime() - start;
      if (answer.node().isEmpty()) {
        failed++;
        if (firstFailure.isEmpty()) {
          firstFailure = Optional.of(asked);
        }
      } else {
        placed += pod.gpus() > 0 ? 1 : 0;
        used += milli;
      }
      answers.accept(answer, i);
    }
    int gpus = stream.nodes().stream().mapToInt(StreamNode::gpus).sum();
    return new Summary(gpus, placed, failed, asked, used, firstFailure, took / Math.max(1, stream.pods().size()));
  }

  private Answer place(StreamPod pod, String name) {
    PodNeeds needs = new PodNeeds(pod.cpuMilli(), pod.memoryMiB() * MIB);
    Candidates candidates =
        host -> capacities.of(host.name()).holds(needs)
            ? Optional.empty()
            : Optional.of("too little CPU or memory is free on the node");
    List<ClaimRequest> claims = claims(pod, name);
    mix.arrived(needs, claims);
    cards.refresh(inventory);
    Answer answer = claims.isEmpty() ? without(needs, candidates) : with(name, needs, claims, candidates);
    answer.node().ifPresent(node -> take(node, needs));
    return answer;
  }

  private static List<ClaimRequest> claims(StreamPod pod, String name) {
    if (pod.gpus() == 0) {
      return List.of();
    }
    return List.of(
        pod.milli() == 1000
            ? PaperClaim.whole(name, pod.gpus(), pod.models(), List.of())
            : PaperClaim.shares(name, 1, pod.models(), List.of(), pod.milli() * MILLI_MEMORY, pod.milli() / 10));
  }

  private Answer with(String name, PodNeeds needs, List<ClaimRequest> claims, Candidates candidates) {
    Optional<Outcome.Allocated> outcome = allocator.place(needs, claims, candidates, cards);
    if (outcome.isEmpty()) {
      return Answer.NONE;
    }
    ClaimPlacement placement = outcome.get().claims().getFirst();
    books.put(name, placement.bookings());
    return new Answer(
        Optional.of(outcome.get().node()),
        placement.devices().stream().map(device -> device.device().card().key().index()).sorted().toList());
  }

  private Answer without(PodNeeds needs, Candidates candidates) {
    Optional<String> node =
        switch (others) {
          case ALLOCATOR -> allocator.hostWithoutCards(needs, candidates, cards);
          case LEAST_ALLOCATED -> leastAllocated(needs);
        };
    return node.map(name -> new Answer(Optional.of(name), List.of())).orElse(Answer.NONE);
  }

  private Optional<String> leastAllocated(PodNeeds needs) {
    Optional<String> best = Optional.empty();
    long most = -1;
    for (String host : inventory.hosts().keySet()) {
      Capacity capacity = capacities.of(host);
      long score = (part(capacity.free().milliCpu() - needs.milliCpu(), capacity.total().milliCpu())
          + part(capacity.free().memory() - needs.memory(), capacity.total().memory())) / 2;
      if (capacity.holds(needs) && score > most) {
        most = score;
        best = Optional.of(host);
      }
    }
    return best;
  }

  private static long part(long free, long total) {
    return total == 0 ? 0 : Math.max(0, free) * 100 / total;
  }

  private void take(String node, PodNeeds needs) {
    Capacity capacity = capacities.of(node);
    PodNeeds left =
        new PodNeeds(capacity.free().milliCpu() - needs.milliCpu(), capacity.free().memory() - needs.memory());
    capacities.put(node, new Capacity(left, capacity.total()));
  }
}
