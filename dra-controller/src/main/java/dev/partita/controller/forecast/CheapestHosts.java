package dev.partita.controller.forecast;

import dev.partita.controller.index.HostState;
import java.util.BitSet;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The hosts that a kind of pods fits on, the cheapest first. The first one is found without putting the others in
 * order.
 */
final class CheapestHosts {
  private static final int NONE_YET = -2;

  private final ForecastHosts hosts;
  private final PlacementCosts costs;
  private int first = NONE_YET;
  private @Nullable PriorityQueue<Offer> rest;

  CheapestHosts(ForecastHosts hosts, PlacementCosts costs) {
    this.hosts = hosts;
    this.costs = costs;
  }

  /**
   * A host that a pod fits on.
   *
   * @param card position of one that a pod of one card would take
   */
  record Offer(ForecastHost host, int position, int card, long growth, long idle) implements Comparable<Offer> {
    HostState hostState() {
      return host.hostState();
    }

    /** Positions of the cards that cost a pod of one card the same. */
    BitSet cards() {
      return host.cardsLike(card);
    }

    @Override
    public int compareTo(Offer other) {
      int byGrowth = Long.compare(growth, other.growth);
      int byIdle = byGrowth != 0 ? byGrowth : Long.compare(idle, other.idle);
      return byIdle != 0 ? byIdle : Integer.compare(position, other.position);
    }
  }

  /** The next one, if there is one. */
  Optional<Offer> next() {
    if (first == NONE_YET) {
      first = costs.cheapest();
      return first < 0 ? Optional.empty() : Optional.of(offer(first));
    }
    PriorityQueue<Offer> others = rest;
    if (others == null) {
      others = new PriorityQueue<>();
      for (int i = 0; i < hosts.size(); i++) {
        if (costs.fits(i) && i != first) {
          others.add(offer(i));
        }
      }
      rest = others;
    }
    return Optional.ofNullable(others.poll());
  }

  private Offer offer(int position) {
    return new Offer(hosts.get(position), position, costs.card(position), costs.growth(position), costs.idle(position));
  }
}
