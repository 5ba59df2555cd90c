package dev.partita.controller.forecast;

import java.util.ArrayList;
import java.util.List;

/** Pods of several cards, for which hosts should keep room. */
final class LargePods {
  private final List<Large> all = new ArrayList<>();
  private long weights;

  /** @param weight what a part of a card counts that is not of use to such pods, in millionths */
  private record Large(Demand demand, long weight) {}

  void add(Demand demand, long weight) {
    all.add(new Large(demand, weight));
    weights += weight;
  }

  /** Parts of the host's free cards that are not of use to each of them by itself, summed up by weight. */
  long lost(FreeParts state) {
    long lost = weights * state.idle();
    for (Large large : all) {
      Demand demand = large.demand();
      if (demand.milliCpu() <= state.milliCpu() && demand.memory() <= state.memory()) {
        lost -= large.weight() * room(demand, state) * demand.cards() * demand.size();
      }
    }
    return lost;
  }

  /** How many such pods the host could take if it took no others. */
  private static long room(Demand demand, FreeParts state) {
    int fitting = 0;
    for (int i = 0; i < state.cards(); i++) {
      fitting += FreeParts.fits(demand, state.card(i)) ? 1 : 0;
    }
    long pods = fitting / demand.cards();
    pods = demand.milliCpu() > 0 ? Math.min(pods, state.milliCpu() / demand.milliCpu()) : pods;
    return demand.memory() > 0 ? Math.min(pods, state.memory() / demand.memory()) : pods;
  }
}
