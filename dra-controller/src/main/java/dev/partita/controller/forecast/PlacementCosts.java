package dev.partita.controller.forecast;

import java.util.Arrays;
import java.util.Optional;

/**
 * What the placement of pods of one kind costs on every host, by the host's position in the forecast index. Kept until
 * a host changes, so that a decision works out only what has changed since the last one of its kind. For one thread.
 */
final class PlacementCosts {
  private final Demand demand;
  private final Optional<Forecast> forecast;
  private final Optional<Scarcity> scarcity;
  private final int[] version;
  private final int[] card;
  private final long[] growth;
  private final long[] idle;

  PlacementCosts(Demand demand, Optional<Forecast> forecast, Optional<Scarcity> scarcity, int hosts) {
    this.demand = demand;
    this.forecast = forecast;
    this.scarcity = scarcity;
    this.version = new int[hosts];
    this.card = new int[hosts];
    this.growth = new long[hosts];
    this.idle = new long[hosts];
    Arrays.fill(version, -1);
  }

  /** Works out anew what is not of the hosts' versions. */
  void refresh(ForecastHosts hosts) {
    for (int i = 0; i < version.length; i++) {
      if (version[i] != hosts.version(i)) {
        version[i] = hosts.version(i);
        work(i, hosts.get(i));
      }
    }
  }

  /**
   * The host that costs least, of equals the one with the least idle, of these the first; negative if the pods fit on
   * none.
   */
  int cheapest() {
    int best = -1;
    for (int i = 0; i < card.length; i++) {
      if (card[i] >= 0
          && (best < 0 || growth[i] < growth[best] || (growth[i] == growth[best] && idle[i] < idle[best]))) {
        best = i;
      }
    }
    return best;
  }

  /** Whether the pods fit there. */
  boolean fits(int host) {
    return card[host] >= 0;
  }

  /** The card, by position, that a pod of one card would take there. */
  int card(int host) {
    return card[host];
  }

  long growth(int host) {
    return growth[host];
  }

  /** Parts of its cards that are free. */
  long idle(int host) {
    return idle[host];
  }

  private void work(int position, ForecastHost host) {
    card[position] = -1;
    idle[position] = host.state().idle();
    if (!host.state().holds(demand)) {
      return;
    }
    long before = cost(host.state());
    long extra = 0;
    if (demand.cards() == 1) {
      long best = Long.MAX_VALUE;
      for (int i = 0; i < host.cards(); i++) {
        if (FreeParts.fits(demand, host.card(i)) && !host.occursBefore(i)) {
          long more = costAfter(host.state(), host.card(i)) - before;
          if (more < best) {
            best = more;
            card[position] = i;
            int kind = FreeParts.kind(host.card(i));
            extra = (long) demand.memoryOf(kind) + demand.coresOf(kind);
          }
        }
      }
      growth[position] = Forecast.steps(best + price(host, extra));
    } else {
      FreeParts after = host.after(demand);
      card[position] = 0;
      extra = host.state().idle() - after.idle();
      growth[position] = Forecast.steps(cost(after) - before + price(host, extra));
    }
  }

  private long cost(FreeParts state) {
    return forecast.isPresent() ? forecast.get().cost(state) : 0;
  }

  private long costAfter(FreeParts state, long taken) {
    return forecast.isPresent() ? forecast.get().costAfter(state, demand, taken) : 0;
  }

  private long price(ForecastHost host, long parts) {
    return scarcity.isPresent() ? scarcity.get().cost(host.empty(), parts) : 0;
  }
}
