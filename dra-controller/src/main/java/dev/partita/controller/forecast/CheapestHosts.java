package dev.partita.controller.forecast;

import dev.partita.controller.index.HostState;
import java.util.BitSet;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Lists the hosts on which a kind of pods fits, the cheapest first. It finds the first one without sorting the others.
 */
final class CheapestHosts {
  private final ForecastHosts hosts;
  private final PlacementCosts costs;
  private boolean begun;
  private int first;
  private @Nullable PriorityQueue<Cursor> rest;

  CheapestHosts(ForecastHosts hosts, PlacementCosts costs) {
    this.hosts = hosts;
    this.costs = costs;
  }

  /** A host of a group; those before it were given out. */
  private record Cursor(int group, int position) {}

  /**
   * A host that a pod fits on.
   *
   * @param card position of one that a pod of one card would take
   */
  record Offer(HostState hostState, ForecastHost host, int card) {
    /** Positions of the cards that cost a pod of one card the same. */
    BitSet cards() {
      return host.cardsLike(card);
    }
  }

  /** The next host, if there is one. */
  Optional<Offer> next() {
    if (!begun) {
      begun = true;
      first = costs.cheapest(hosts);
      return first < 0 ? Optional.empty() : Optional.of(offer(new Cursor(first, hosts.first(first))));
    }
    @Nullable PriorityQueue<Cursor> others = rest;
    if (others == null) {
      others = new PriorityQueue<>((a, b) -> costs.compare(a.group, a.position, b.group, b.position));
      for (int group = 0; group < costs.groups(); group++) {
        if (group == first) {
          addNext(others, new Cursor(first, hosts.first(first)));
        } else if (costs.fits(group)) {
          others.add(new Cursor(group, hosts.first(group)));
        }
      }
      rest = others;
    }
    @Nullable Cursor next = others.poll();
    if (next == null) {
      return Optional.empty();
    }
    addNext(others, next);
    return Optional.of(offer(next));
  }

  private void addNext(PriorityQueue<Cursor> cursors, Cursor before) {
    int position = hosts.next(before.group, before.position);
    if (position >= 0) {
      cursors.add(new Cursor(before.group, position));
    }
  }

  private Offer offer(Cursor cursor) {
    return new Offer(hosts.hostState(cursor.position), hosts.host(cursor.position), costs.card(cursor.group));
  }
}
