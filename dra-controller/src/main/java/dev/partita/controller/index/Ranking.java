package dev.partita.controller.index;

import com.google.common.collect.ImmutableSortedSet;
import dev.partita.controller.booking.Account;
import dev.partita.controller.index.ChangeLog.Moment;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.place.NodeSearch.Found;
import dev.partita.controller.place.PlacementScore;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps all hosts in the order in which claims of one kind would take them, for claims that no order of cards answers.
 * At first a host stands where the lower bound of its score puts it. When it comes first, a placement is searched
 * there, and the host moves to where that placement's score puts it. What was found is kept until the host changes. So
 * a decision looks only at hosts that changed since the last one of its kind, and searches few of them: on 5,000 hosts
 * 23 µs for 8 shares, where a search on every host takes 0.13 s (PERFORMANCE.md, "One decision"). For one thread.
 */
final class Ranking {
  private final List<Choice> choices;
  private final boolean ofKinds;
  private final boolean ofPositions;
  private final HostScan scan;
  private final List<ScoreLowerBound> lowerBounds;
  private TreeSet<Entry> order = new TreeSet<>();
  private final Map<String, Entry> byHost = new HashMap<>();
  private final Map<State, Optional<PlacementScore>> known = new HashMap<>();
  private Moment seen = Moment.NEVER;

  /**
   * @param choices of one rank, the first that a host can serve is meant; whoever asks must ask for the same
   * @param scan places them on a host
   */
  Ranking(List<Choice> choices, HostScan scan) {
    this.choices = List.copyOf(choices);
    this.scan = scan;
    List<RequestMatcher> requests =
        choices.stream().flatMap(choice -> choice.requests().stream()).flatMap(List::stream).map(scan::matcher)
            .toList();
    this.ofKinds = requests.stream().allMatch(RequestMatcher::ofKinds);
    this.ofPositions = requests.stream().allMatch(RequestMatcher::ofPositions);
    this.lowerBounds = choices.stream().map(choice -> new ScoreLowerBound(choice, scan::matcher)).toList();
  }

  /** What choices of different pods must have in common to share a ranking. */
  record Kind(int rank, List<List<OfClaim>> choices) {
    static Kind of(List<Choice> choices) {
      return new Kind(choices.getFirst().rank(), choices.stream().map(Kind::of).toList());
    }

    /** Characters of the selectors of all its requests. */
    long characters() {
      return choices.stream().flatMap(List::stream).flatMap(claim -> claim.requests().stream())
          .mapToLong(DeviceRequest::characters).sum();
    }

    private static List<OfClaim> of(Choice choice) {
      List<OfClaim> claims = new ArrayList<>();
      for (int i = 0; i < choice.claims().size(); i++) {
        claims.add(new OfClaim(choice.claims().get(i).constraints(), choice.requests().get(i)));
      }
      return claims;
    }
  }

  /** The parts of a claim that decide about its placement. */
  record OfClaim(List<Constraint> constraints, List<DeviceRequest> requests) {}

  /** @param exact whether a placement with that score was found, else there is none with a lower one */
  private record Entry(PlacementScore score, boolean exact, HostState hostState) implements Comparable<Entry> {
    @Override
    public int compareTo(Entry other) {
      return score.compareTo(other.score);
    }
  }

  /**
   * Hosts of one shape whose cards are equally full can serve the same requests equally well, if the requests go by
   * kinds of cards and their positions.
   */
  private record State(WholeCardIndex wholeCards, List<CardPosition> positions, List<Account> accounts) {}

  /**
   * The best host that is not refused, with the placement of these choices there.
   *
   * @param asked the same choices with the claims that ask now
   */
  Optional<Found> best(HostIndex cards, List<Choice> asked, HostScan placing, Predicate<HostState> refused) {
    follow(cards);
    @Nullable Entry next = order.isEmpty() ? null : order.first();
    while (next != null) {
      Entry entry = next;
      if (refused.test(entry.hostState())) {
        next = order.higher(entry);
      } else if (entry.exact()) {
        return placing.first(entry.hostState(), asked);
      } else {
        Optional<PlacementScore> exact = exact(entry.hostState()); // first, for there may be no more time for it
        order.remove(entry);
        byHost.remove(entry.score().node());
        exact.ifPresent(score -> {
          assert score.compareTo(entry.score()) >= 0 : score + " is below " + entry.score();
          add(new Entry(score, true, entry.hostState()));
        });
        next = order.ceiling(entry);
      }
    }
    return Optional.empty();
  }

  private void follow(HostIndex cards) {
    Optional<Set<String>> changed = cards.changes().since(seen);
    SortedMap<String, HostState> hostStates = cards.hostStates();
    if (changed.isEmpty()) {
      order.clear();
      byHost.clear();
      known.clear();
      addAll(hostStates.values());
    } else {
      for (String host : changed.get()) {
        @Nullable Entry before = byHost.remove(host);
        if (before != null) {
          order.remove(before);
        }
        @Nullable HostState now = hostStates.get(host);
        if (now != null) {
          add(now);
        }
      }
    }
    if (known.size() > 2 * hostStates.size()) {
      known.clear();
    }
    seen = cards.changes().now();
  }

  /** Hosts that are alike are looked at once, and are in order of name already. */
  private void addAll(Collection<HostState> hostStates) {
    Map<Object, List<HostState>> groups = new LinkedHashMap<>();
    for (HostState hostState : hostStates) {
      groups.computeIfAbsent(ofPositions ? hostState.occupancy() : new Object(), _ -> new ArrayList<>(1))
          .add(hostState);
    }
    List<Entry> entries = new ArrayList<>(hostStates.size());
    for (List<HostState> group : groups.values()) {
      least(group.getFirst()).ifPresent(
          least -> group
              .forEach(hostState -> entries.add(new Entry(least.on(hostState.host().name()), false, hostState))));
    }
    order = new TreeSet<>(ImmutableSortedSet.copyOf(entries));
    entries.forEach(entry -> byHost.put(entry.score().node(), entry));
  }

  private void add(HostState hostState) {
    least(hostState).ifPresent(score -> add(new Entry(score, false, hostState)));
  }

  private Optional<PlacementScore> least(HostState hostState) {
    @Nullable PlacementScore least = null;
    for (ScoreLowerBound lowerBound : lowerBounds) {
      Optional<PlacementScore> score = lowerBound.on(hostState);
      if (score.isPresent() && (least == null || score.get().compareTo(least) < 0)) {
        least = score.get();
      }
    }
    return Optional.ofNullable(least);
  }

  private void add(Entry entry) {
    order.add(entry);
    byHost.put(entry.score().node(), entry);
  }

  private Optional<PlacementScore> exact(HostState hostState) {
    if (!ofPositions) {
      return scan.first(hostState, choices).map(Found::score);
    }
    State state = new State(hostState.wholeCards(), ofKinds ? List.of() : hostState.positions(), hostState.accounts());
    return known.computeIfAbsent(state, s -> scan.first(hostState, choices).map(Found::score))
        .map(score -> score.on(hostState.host().name()));
  }
}
