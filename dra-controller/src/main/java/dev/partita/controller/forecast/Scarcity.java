package dev.partita.controller.forecast;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Prices the cards of hosts that few others can replace. A card costs the more, the more is asked of those few hosts
 * that could serve the same pods if they were empty. If every host could serve every pod, all prices are equal.
 */
public final class Scarcity {
  private static final int MAX_KINDS = 256;
  private static final int MAX_HOSTS = 32;

  private final Map<FreeParts, Integer> empty;
  private final double all;
  private final Map<FreeParts, Long> prices = new HashMap<>();

  /** @param empty how many hosts there are of which state when nothing is taken */
  public Scarcity(List<Frequency> frequencies, Map<FreeParts, Integer> empty) {
    this.empty = Map.copyOf(empty);
    this.all = offered(empty.keySet());
    List<Frequency> largest =
        frequencies.stream().sorted((a, b) -> Long.compare(Forecast.asked(b), Forecast.asked(a))).limit(MAX_KINDS)
            .toList();
    double asked = Math.max(1, largest.stream().mapToLong(Forecast::asked).sum());
    empty.keySet().forEach(host -> prices.put(host, 0L));
    for (Frequency frequency : largest) {
      long price = Math.round(Forecast.asked(frequency) / asked * rarity(frequency.demand()) * 1_000_000);
      able(frequency.demand()).forEach(host -> prices.merge(host, price, Long::sum));
    }
  }

  /**
   * How many times more cards there are than on hosts that could serve the demand if they were empty; 0 if there is no
   * such host.
   */
  double rarity(Demand demand) {
    double offered = offered(able(demand));
    return offered == 0 ? 0 : all / offered;
  }

  /**
   * For the largest kinds of hosts with several cards, the pod that takes all its cards, and CPU and memory but for a
   * small rest.
   */
  List<Demand> largestPods() {
    int kinds = 0;
    for (FreeParts host : empty.keySet()) {
      for (int i = 0; i < host.cards(); i++) {
        kinds = Math.max(kinds, FreeParts.kind(host.card(i)) + 1);
      }
    }
    List<FreeParts> largest =
        empty.keySet().stream()
            .filter(host -> host.cards() > 1)
            .sorted(
                Comparator.comparingInt(FreeParts::cards)
                    .thenComparingInt(FreeParts::milliCpu)
                    .thenComparingInt(FreeParts::memory)
                    .thenComparingLong(host -> host.card(0))
                    .reversed())
            .limit(MAX_HOSTS)
            .toList();
    List<Demand> pods = new ArrayList<>();
    for (FreeParts host : largest) {
      int[] parts = new int[kinds];
      Arrays.fill(parts, -1);
      for (int i = 0; i < host.cards(); i++) {
        parts[FreeParts.kind(host.card(i))] = Demand.CARD;
      }
      pods.add(new Demand(nearlyAll(host.milliCpu()), nearlyAll(host.memory()), host.cards(), parts, parts));
    }
    return pods;
  }

  /** Parts of cards of the host that has most of them. */
  long largestHost() {
    return empty.keySet().stream().mapToLong(FreeParts::idle).max().orElse(0);
  }

  private static int nearlyAll(int amount) {
    return amount / 16 * 15;
  }

  private List<FreeParts> able(Demand demand) {
    return empty.keySet().stream().filter(host -> host.holds(demand)).toList();
  }

  private double offered(Collection<FreeParts> hosts) {
    return hosts.stream().mapToLong(host -> empty.getOrDefault(host, 0) * host.idle()).sum();
  }

  /**
   * What that many parts of cards cost on a host that looks like this when it is empty, in the unit of
   * {@link Forecast#cost}.
   */
  public long cost(FreeParts host, long parts) {
    return parts * prices.getOrDefault(host, 0L) / 1_000_000 * Forecast.FILLS;
  }
}
