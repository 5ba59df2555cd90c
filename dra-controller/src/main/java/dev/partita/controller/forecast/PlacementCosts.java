package dev.partita.controller.forecast;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what the placement of pods of one kind costs on the hosts of every group, by the group's number. A cost is kept
 * until another group has the number, so that a decision computes only what has changed since the last one of its kind.
 * For one thread.
 */
final class PlacementCosts {
  private static final int FITS_NOT = -1;

  private final Demand demand;
  private final Optional<Forecast> forecast;
  private final Optional<Scarcity> scarcity;
  private long[] version = {};
  private int[] card = {};
  private long[] growth = {};
  private long[] idle = {};
  private int groups;

  PlacementCosts(Demand demand, Optional<Forecast> forecast, Optional<Scarcity> scarcity) {
    this.demand = demand;
    this.forecast = forecast;
    this.scarcity = scarcity;
  }

  /** Computes the costs of all groups that have changed. */
  void refresh(ForecastHosts hosts) {
    groups = hosts.groups();
    if (groups > version.length) {
      int length = Math.max(groups, 2 * version.length);
      version = Arrays.copyOf(version, length);
      card = Arrays.copyOf(card, length);
      growth = Arrays.copyOf(growth, length);
      idle = Arrays.copyOf(idle, length);
    }
    for (int i = 0; i < groups; i++) {
      if (version[i] != hosts.version(i)) {
        version[i] = hosts.version(i);
        @Nullable ForecastHost host = hosts.group(i);
        card[i] = FITS_NOT;
        if (host != null) {
          work(i, host);
        }
      }
    }
  }

  /**
   * The group whose hosts cost least, of equals the one with the least idle, of these the one with the first host;
   * negative if the pods fit on none.
   */
  int cheapest(ForecastHosts hosts) {
    int best = -1;
    for (int i = 0; i < groups; i++) {
      if (card[i] >= 0 && (best < 0 || compare(i, hosts.first(i), best, hosts.first(best)) < 0)) {
        best = i;
      }
    }
    return best;
  }

  /** Which of two hosts costs less, each given by its group and its position; of equals the one with the least idle. */
  int compare(int group, int position, int otherGroup, int otherPosition) {
    int byGrowth = Long.compare(growth[group], growth[otherGroup]);
    int byIdle = byGrowth != 0 ? byGrowth : Long.compare(idle[group], idle[otherGroup]);
    return byIdle != 0 ? byIdle : Integer.compare(position, otherPosition);
  }

  /** Numbers of groups are below this one. */
  int groups() {
    return groups;
  }

  /** Whether the pods fit on hosts of the group. */
  boolean fits(int group) {
    return card[group] >= 0;
  }

  /** The card, by position, that a pod of one card would take there. */
  int card(int group) {
    return card[group];
  }

  private void work(int group, ForecastHost host) {
    idle[group] = host.state().idle();
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
            card[group] = i;
            int kind = FreeParts.kind(host.card(i));
            extra = (long) demand.memoryOf(kind) + demand.coresOf(kind);
          }
        }
      }
      growth[group] = Forecast.steps(best + price(host, extra));
    } else {
      FreeParts after = host.after(demand);
      card[group] = 0;
      extra = host.state().idle() - after.idle();
      growth[group] = Forecast.steps(cost(after) - before + price(host, extra));
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
