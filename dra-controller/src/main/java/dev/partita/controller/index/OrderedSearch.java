package dev.partita.controller.index;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.place.NodeSearch.Found;
import dev.partita.controller.place.NodeSearch;
import dev.partita.controller.place.PlacementScore;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Looks up the best host in {@link HostIndex}, for the two kinds of requests that are nearly all of them: a share of
 * one card, and whole cards of one host. Their score follows from the state of the cards before they are placed. So
 * hosts come in order of score, and the first one that the pod can use is the best. {@link Ranking} would find the same
 * in twice the time, after 10 ms for the first claim of each kind on 5,000 hosts, in which it looks at all of them
 * ({@code partita bench allocator}).
 */
public final class OrderedSearch {
  private final HostIndex cards;
  private final Function<DeviceRequest, RequestMatcher> matchers;
  private final DecisionBudget budget;

  public OrderedSearch(HostIndex cards, Function<DeviceRequest, RequestMatcher> matchers, DecisionBudget budget) {
    this.cards = cards;
    this.matchers = matchers;
    this.budget = budget;
  }

  /** Hosts that one order holds, the best first, as long as there are any. */
  private static final class Queue implements Comparable<Queue> {
    private final Iterator<IndexEntry> entries;
    private final Function<IndexEntry, PlacementScore> score;
    private final boolean interchangeable;
    private IndexEntry head;
    private PlacementScore headScore;

    /** @param interchangeable what one of its hosts cannot place, none can */
    Queue(Iterator<IndexEntry> entries, Function<IndexEntry, PlacementScore> score, boolean interchangeable) {
      this.entries = entries;
      this.score = score;
      this.interchangeable = interchangeable;
      this.head = entries.next();
      this.headScore = score.apply(head);
    }

    boolean advance() {
      if (!entries.hasNext()) {
        return false;
      }
      head = entries.next();
      headScore = score.apply(head);
      return true;
    }

    @Override
    public int compareTo(Queue other) {
      return headScore.compareTo(other.headScore);
    }
  }

  /** Whether the choice is of these two kinds: else every host has to be looked at. */
  public boolean knows(Choice choice) {
    List<DeviceRequest> requests = requests(choice);
    for (DeviceRequest request : requests) {
      if (!isOrdered(request)) {
        return false;
      }
    }
    return !requests.isEmpty() && (areWholes(requests) || isOneShare(requests));
  }

  /**
   * The best placement of a choice that it {@linkplain #knows knows}.
   *
   * @param refused whether the pod cannot use the host
   * @return empty if no host can serve it
   */
  public Optional<Found> best(Choice choice, Predicate<HostState> refused) {
    List<DeviceRequest> requests = requests(choice);
    return first(choice, areWholes(requests) ? wholes(choice.rank(), requests) : shares(choice, requests.getFirst()),
        refused);
  }

  private static List<DeviceRequest> requests(Choice choice) {
    return choice.requests().size() == 1
        ? choice.requests().getFirst()
        : choice.requests().stream().flatMap(List::stream).toList();
  }

  private boolean isOrdered(DeviceRequest request) {
    return !request.isAdminAccess() && request.modes() == DeviceRequest.Modes.INFERRED
        && request.placement().nodes() != Packing.SPREAD && request.count() instanceof DeviceRequest.Count.Exactly
        && matchers.apply(request).ofKinds();
  }

  private boolean areWholes(List<DeviceRequest> requests) {
    for (DeviceRequest request : requests) {
      if (!only(request, Taking.CARD)) {
        return false;
      }
    }
    return true;
  }

  private boolean isOneShare(List<DeviceRequest> requests) {
    return requests.size() == 1
        && count(requests.getFirst()) == 1
        && requests.getFirst().placement().gpus() != Packing.SPREAD
        && only(requests.getFirst(), Taking.SHARE);
  }

  /** Whether the request would take the same of every kind of card that can serve it. */
  private boolean only(DeviceRequest request, Taking taken) {
    RequestMatcher matcher = matchers.apply(request);
    for (CardClass kind : cards.cardClasses()) {
      Optional<Match> match = matcher.ofKind(kind);
      if (match.isPresent() && match.get().takes() != taken) {
        return false;
      }
    }
    return true;
  }

  private Optional<Found> first(Choice choice, PriorityQueue<Queue> queues, Predicate<HostState> refused) {
    while (!queues.isEmpty()) {
      Queue queue = queues.remove();
      HostState hostState = queue.head.host();
      boolean usable = !refused.test(hostState);
      if (usable) {
        Optional<Found> found =
            NodeSearch.search(hostState.host(), cards.accounts(), choice,
                request -> matchers.apply(request).on(hostState), budget);
        if (found.isPresent()) {
          return found;
        }
      }
      if (!(usable && queue.interchangeable) && queue.advance()) {
        queues.add(queue);
      }
    }
    return Optional.empty();
  }

  private PriorityQueue<Queue> shares(Choice choice, DeviceRequest request) {
    PriorityQueue<Queue> queues = new PriorityQueue<>();
    List<Constraint> constraints = constraints(choice, request);
    RequestMatcher matcher = matchers.apply(request);
    for (CardClass cardClass : cards.cardClasses()) {
      Optional<Match> possible = matcher.ofKind(cardClass);
      if (possible.isPresent() && allow(constraints, possible.get().device())) {
        addShares(queues, choice.rank(), possible.get(), false, cardClass);
        addShares(queues, choice.rank(), possible.get(), true, cardClass);
      }
    }
    return queues;
  }

  private static List<Constraint> constraints(Choice choice, DeviceRequest request) {
    List<Constraint> constraints = new ArrayList<>();
    for (ClaimRequest claim : choice.claims()) {
      for (Constraint constraint : claim.constraints()) {
        if (constraint.covers(request.name())) {
          constraints.add(constraint);
        }
      }
    }
    return constraints;
  }

  private static boolean allow(List<Constraint> constraints, Device device) {
    for (Constraint constraint : constraints) {
      if (!constraint.allows(device, List.of())) {
        return false;
      }
    }
    return true;
  }

  private static void addShares(
      PriorityQueue<Queue> queues,
      int rank,
      Match match,
      boolean untouched,
      CardClass cardClass) {
    for (Map.Entry<Integer, NavigableSet<IndexEntry>> level : cardClass.entries(untouched).tailMap(match.cores(), true)
        .entrySet()) {
      addShares(queues, rank, match, untouched, level.getKey(), level.getValue());
    }
  }

  /**
   * Adds the hosts for a share. Begun cards on which the share would leave cores without memory come after all others,
   * so they are in an order of their own.
   */
  private static void addShares(
      PriorityQueue<Queue> queues,
      int rank,
      Match match,
      boolean untouched,
      int cores,
      NavigableSet<IndexEntry> entries) {
    long allocatable = match.device().card().allocatableMemory();
    long enough = match.memory();
    if (untouched || match.cores() == 0) {
      int stranded = untouched ? PlacementScore.stranded(allocatable, match.memory(), match.cores()) : 0;
      add(queues, entries.tailSet(IndexEntry.from(enough), true),
          p -> score(rank, untouched ? 1 : 0, stranded, match, cores, p));
      return;
    }
    long balanced = enough + PlacementScore.needed(allocatable, cores - match.cores());
    add(queues, entries.tailSet(IndexEntry.from(balanced), true), p -> score(rank, 0, 0, match, cores, p));
    add(queues, entries.subSet(IndexEntry.from(enough), true, IndexEntry.from(balanced), false),
        p -> score(rank, PlacementScore.UNBALANCED, 0, match, cores, p));
  }

  private static void add(
      PriorityQueue<Queue> queues,
      NavigableSet<IndexEntry> entries,
      Function<IndexEntry, PlacementScore> score) {
    Iterator<IndexEntry> inOrder = entries.iterator();
    if (inOrder.hasNext()) {
      queues.add(new Queue(inOrder, score, false));
    }
  }

  /** What {@link PlacementScore#ofNode} says once the share is placed there. */
  private static PlacementScore score(int rank, int opened, int stranded, Match match, int cores, IndexEntry place) {
    long allocatable = match.device().card().allocatableMemory();
    long before = PlacementScore.parts(allocatable, place.memory(), cores);
    long after = PlacementScore.parts(allocatable, place.memory() - match.memory(), cores - match.cores());
    return new PlacementScore(rank, opened, stranded, after, place.free() - before + after, place.node());
  }

  private PriorityQueue<Queue> wholes(int rank, List<DeviceRequest> requests) {
    int wanted = requests.stream().mapToInt(OrderedSearch::count).sum();
    Collection<List<CardClass>> useful = requests.stream().map(this::kinds).toList();
    PriorityQueue<Queue> queues = new PriorityQueue<>();
    for (WholeCardIndex wholeCards : cards.wholeCardIndexes()) {
      for (Map.Entry<BitSet, NavigableSet<IndexEntry>> group : wholeCards.byUntouched().entrySet()) {
        if (group.getKey().cardinality() >= wanted && enough(group, requests, useful)) {
          long cost = 2L * wanted * PlacementScore.CARD;
          queues.add(
              new Queue(group.getValue().iterator(), p -> new PlacementScore(rank, 0, 0, 0, p.free() - cost, p.node()),
                  true));
        }
      }
    }
    return queues;
  }

  /** Whether each request by itself finds enough untouched cards. */
  private static boolean enough(
      Map.Entry<BitSet, NavigableSet<IndexEntry>> group,
      List<DeviceRequest> requests,
      Collection<List<CardClass>> useful) {
    HostState any = group.getValue().first().host();
    Iterator<List<CardClass>> usefulKinds = useful.iterator();
    for (DeviceRequest request : requests) {
      List<CardClass> wanted = usefulKinds.next();
      if (group.getKey().stream().filter(position -> wanted.contains(any.cardClass(position))).count()
          < count(request)) {
        return false;
      }
    }
    return true;
  }

  private List<CardClass> kinds(DeviceRequest request) {
    RequestMatcher matcher = matchers.apply(request);
    List<CardClass> kinds = new ArrayList<>();
    for (CardClass kind : cards.cardClasses()) {
      if (matcher.ofKind(kind).isPresent()) {
        kinds.add(kind);
      }
    }
    return kinds;
  }

  private static int count(DeviceRequest request) {
    return request.count() instanceof DeviceRequest.Count.Exactly(int devices) ? devices : 0;
  }
}
