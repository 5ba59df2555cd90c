package dev.partita.controller.allocate;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The hosts that a kind of pods fits on, the cheapest first. The first one is found without putting the others in order. */
final class Offers {
  private final List<FleetHost> hosts;
  private final PlacementCosts costs;
  private final Set<Integer> taken = new HashSet<>();
  private @Nullable PriorityQueue<Offer> rest;

  Offers(List<FleetHost> hosts, PlacementCosts costs) {
    this.hosts = hosts;
    this.costs = costs;
  }

  /** A host that a pod fits on. */
  record Offer(Standing standing, int position, int card, long growth, long idle) implements Comparable<Offer> {
    @Override
    public int compareTo(Offer other) {
      int byGrowth = Long.compare(growth, other.growth);
      int byIdle = byGrowth != 0 ? byGrowth : Long.compare(idle, other.idle);
      return byIdle != 0 ? byIdle : Integer.compare(position, other.position);
    }
  }

  /** The next one, if there is one. */
  Optional<Offer> next() {
    if (taken.isEmpty()) {
      int best = -1;
      for (int i = 0; i < hosts.size(); i++) {
        if (costs.fits(i) && (best < 0 || isBetter(i, best))) {
          best = i;
        }
      }
      taken.add(best);
      return best < 0 ? Optional.empty() : Optional.of(offer(best));
    }
    PriorityQueue<Offer> others = rest;
    if (others == null) {
      others = new PriorityQueue<>();
      for (int i = 0; i < hosts.size(); i++) {
        if (costs.fits(i) && !taken.contains(i)) {
          others.add(offer(i));
        }
      }
      rest = others;
    }
    return Optional.ofNullable(others.poll());
  }

  private boolean isBetter(int a, int b) {
    long byGrowth = costs.growth(a) - costs.growth(b);
    return byGrowth != 0 ? byGrowth < 0 : hosts.get(a).idle() < hosts.get(b).idle();
  }

  private Offer offer(int position) {
    FleetHost host = hosts.get(position);
    return new Offer(host.standing(), position, costs.card(position), costs.growth(position), host.idle());
  }
}
