package dev.partita.controller.stream;

import dev.partita.controller.allocate.Allocator;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities.Capacity;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.replay.PaperClaim;
import dev.partita.controller.replay.PaperNode;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Places the pods of a stream as they arrive, with the controller's allocator, books and demand history. What has no
 * place waits, and is tried again when a pod leaves. In a cluster kube-scheduler places pods that ask for no GPU; here
 * this does.
 */
public final class StreamRun {
  private final ClusterStream stream;
  private final StreamPolicy policy;
  private final Others others;
  private final StreamEvents events;
  private final Inventory inventory;
  private final HostCapacities capacities = new HostCapacities();
  private final DemandHistory history = new DemandHistory();
  private final Books books = new Books();
  private final FreeCards cards = new FreeCards(books, capacities, history);
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private final PriorityQueue<Departure> departures = new PriorityQueue<>(Departure.FIRST);
  private final WaitingPods<Shape> waiting = new WaitingPods<>();
  private final Map<Integer, Answer> running = new HashMap<>();
  private final StreamMeasure measure;
  private long decisions;
  private long decisionNs;

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

  private record Shape(Cards cards, PodNeeds needs) {}

  private record Departure(double at, int pod) {
    static final Comparator<Departure> FIRST =
        Comparator.comparingDouble(Departure::at).thenComparingInt(Departure::pod);
  }

  private StreamRun(ClusterStream stream, StreamPolicy policy, Others others, StreamEvents events) {
    this.stream = stream;
    this.policy = policy;
    this.others = others;
    this.events = events;
    this.inventory =
        Inventory.EMPTY.refreshed(
            stream.nodes().stream()
                .map(
                    node -> PaperNode.of(node.node(), node.model(), node.gpus(), node.gpuMemory(), node.gpusPerNuma()))
                .toList());
    for (StreamNode node : stream.nodes()) {
      capacities.put(node.node(), new Capacity(node.capacity(), node.capacity()));
    }
    this.measure = new StreamMeasure(inventory, LargestShare.of(stream), stream.lastArrival());
  }

  /** Plays a stream to its end: until nobody waits, or nobody is left who could leave. */
  public static StreamReport play(ClusterStream stream, StreamPolicy policy, Others others, StreamEvents events) {
    return new StreamRun(stream, policy, others, events).play();
  }

  private StreamReport play() {
    for (int i = 0; i < stream.pods().size(); i++) {
      double now = stream.pods().get(i).arrival();
      departUntil(now);
      measure.advance(now);
      events.arrived(i, arrive(i));
    }
    measure.lastArrived();
    while (waiting.size() > 0 && !departures.isEmpty()) {
      departUntil(departures.element().at());
    }
    return measure.report(policy, waiting.size(), decisionNs / Math.max(1, decisions));
  }

  private Answer arrive(int number) {
    StreamPod pod = stream.pods().get(number);
    List<ClaimRequest> claims = claims(pod, uid(number));
    history.arrived(pod.needs(), claims);
    measure.arrived(pod.cards());
    Answer answer = waiting.has(shape(pod)) ? Answer.NONE : place(number, claims);
    if (answer.node().isEmpty()) {
      waiting.add(shape(pod), number);
      measure.waits(waiting.size());
    } else {
      started(number, pod.arrival(), answer);
    }
    return answer;
  }

  private void started(int number, double now, Answer answer) {
    StreamPod pod = stream.pods().get(number);
    measure.started(pod.cards(), now - pod.arrival());
    if (pod.duration().isPresent()) {
      running.put(number, answer);
      departures.add(new Departure(now + pod.duration().getAsDouble(), number));
    }
  }

  /** Has all pods leave whose time is over by then, those of one moment together, and tries those that wait. */
  private void departUntil(double until) {
    while (!departures.isEmpty() && departures.element().at() <= until) {
      double now = departures.element().at();
      measure.advance(now);
      Set<String> freed = new HashSet<>();
      while (!departures.isEmpty() && departures.element().at() <= now) {
        freed.add(depart(departures.remove().pod()));
      }
      waiting.retry(pod -> startsLater(pod, now, freed));
      measure.waits(waiting.size());
    }
  }

  /** Gives the node. */
  private String depart(int number) {
    @Nullable Answer answer = running.remove(number);
    if (answer == null) {
      throw new IllegalStateException("pod " + number + " leaves and did not run");
    }
    String node = answer.node().orElseThrow();
    List<Booking> bookings = books.bookings(uid(number));
    books.remove(uid(number));
    measure.changed(bookings, books);
    measure.left(stream.pods().get(number).cards());
    put(node, stream.pods().get(number).needs(), -1);
    events.left(number);
    return node;
  }

  private boolean startsLater(int number, double now, Set<String> freed) {
    StreamPod pod = stream.pods().get(number);
    List<ClaimRequest> claims = claims(pod, uid(number));
    cards.refresh(inventory);
    // Elsewhere nothing has become free since it found no place.
    if (freed.stream().noneMatch(
        node -> capacities.of(node).holds(pod.needs())
            && (claims.isEmpty() || allocator.placeOn(node, claims, cards).isPresent()))) {
      return false;
    }
    Answer answer = place(number, claims);
    if (answer.node().isPresent()) {
      started(number, now, answer);
      events.startedLater(number, answer, now - pod.arrival());
    }
    return answer.node().isPresent();
  }

  private Answer place(int number, List<ClaimRequest> claims) {
    PodNeeds needs = stream.pods().get(number).needs();
    long start = System.nanoTime();
    Candidates candidates =
        host -> capacities.of(host.name()).holds(needs)
            ? Optional.empty()
            : Optional.of("too little CPU or memory is free on the node");
    cards.refresh(inventory);
    Answer answer =
        claims.isEmpty() ? without(needs, candidates) : with(uid(number), needs, claims, candidates);
    answer.node().ifPresent(node -> put(node, needs, 1));
    decisionNs += System.nanoTime() - start;
    decisions++;
    measure.changed(books.bookings(uid(number)), books);
    return answer;
  }

  private static String uid(int number) {
    return "pod-" + number;
  }

  private static Shape shape(StreamPod pod) {
    return new Shape(pod.cards(), pod.needs());
  }

  private List<ClaimRequest> claims(StreamPod pod, String name) {
    List<ClaimRequest> claims = switch (pod.cards()) {
      case Cards.None() -> List.of();
      case Cards.Whole(int count, Among among) -> List.of(
          PaperClaim.whole(name, count, among.models(), PaperClaim.inCommon(among.matchAttribute())));
      case Cards.Share(int count, long memory, int cores, Among among) -> List.of(
          PaperClaim.shares(name, count, among.models(), PaperClaim.inCommon(among.matchAttribute()), memory, cores));
    };
    return claims.stream().map(claim -> claim.mapAlternatives(request -> request.placed(policy.placement()))).toList();
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

  /** Takes what a pod requests of the node, or gives it back. */
  private void put(String node, PodNeeds needs, int sign) {
    Capacity capacity = capacities.of(node);
    PodNeeds left =
        new PodNeeds(capacity.free().milliCpu() - sign * needs.milliCpu(),
            capacity.free().memory() - sign * needs.memory());
    capacities.put(node, new Capacity(left, capacity.total()));
  }
}
