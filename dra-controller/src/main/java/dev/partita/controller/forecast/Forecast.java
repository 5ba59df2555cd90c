package dev.partita.controller.forecast;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Values the state of a host by how well it would serve later pods, which are expected to be like those that arrived
 * before. To value a state, the host is filled up on paper with such pods, several times over. What counts is how much
 * of its cards is idle at the end, because CPU ran out before the cards did, or because remainders are smaller than
 * anything that arrives. A placement costs as much as it makes that worse.
 *
 * <p>Two prices are added, for what the filling of one host cannot show. A host that still has room for a pod of
 * several cards keeps some of the value of that room: the fewer such hosts there are, the more. And some cards are
 * offered by few hosts to those who ask for them (a model that pods name, a node large enough for a large pod): they
 * cost more the more is asked of them in comparison with what there is.
 *
 * <p>The pods that hosts are filled with stay the same as long as the frequencies do, so equal states always have equal
 * values.
 */
public final class Forecast {
  /** How often a host is filled. */
  static final int FILLS = 24;

  /** Fewest and most pods that arrive in each filling: {@link #length}. */
  private static final int LEAST = 24;
  private static final int MOST = 96;

  /** Growths of less than this, in the unit of {@link #cost}, are noise: 8 % of a card. */
  private static final long NOISE = Demand.CARD * 2L * FILLS * 8 / 100;

  /** Part of the demand for several cards that a host's room for it counts, in 1/1000. */
  private static final long ROOM_WEIGHT = 250;

  private static final int MAX_LARGE = 16;
  private static final double MAX_RARITY = 50;

  /** Part of the demand that is expected of pods which take a whole host, though none may have come yet. */
  private static final double UNHEARD_OF = 0.005;
  private static final int MAX_KNOWN = 50_000;

  private final List<Demand> demands;
  private final int[][] fills;
  private final Map<BitSet, Arrivals> arrivals = new HashMap<>();
  private final LargePods large = new LargePods();
  private final KnownCosts known = new KnownCosts(MAX_KNOWN);

  /**
   * @param frequencies in a fixed order: of equal lists come equal forecasts; not empty
   * @param scarcity of the hosts there are
   */
  public Forecast(List<Frequency> frequencies, Scarcity scarcity) {
    this.demands = frequencies.stream().map(Frequency::demand).toList();
    this.fills = fills(frequencies, length(frequencies, scarcity.largestHost()));
    double asked = Math.max(1, frequencies.stream().mapToLong(Forecast::asked).sum());
    frequencies.stream()
        .filter(frequency -> frequency.demand().takesSeveralCards())
        .sorted((a, b) -> Long.compare(asked(b), asked(a)))
        .limit(MAX_LARGE)
        .forEach(frequency -> addLarge(frequency.demand(), asked(frequency) / asked, scarcity));
    scarcity.largestPods().forEach(demand -> addLarge(demand, UNHEARD_OF, scarcity));
  }

  private void addLarge(Demand demand, double part, Scarcity scarcity) {
    // Its part of all the cards that are asked for, times the rarity of hosts for it.
    large.add(demand, Math.round(part * Math.min(MAX_RARITY, scarcity.rarity(demand)) * 1_000_000));
  }

  /** Parts of cards that all pods of the kind ask for together. */
  static long asked(Frequency frequency) {
    return frequency.arrivals() * frequency.demand().cards() * frequency.demand().size();
  }

  /**
   * How many pods are to arrive in a filling: half as many again as fill the largest host, if they are as large as pods
   * are on average. If they were fewer, an empty host would not be full in the end, and each pod that is placed there
   * would seem to leave less of it idle. So small shares would be spread over empty hosts. For example, on hosts of 8
   * cards shares of a fifth of a card need 60.
   */
  private static int length(List<Frequency> frequencies, long largestHost) {
    long pods = frequencies.stream().mapToLong(Frequency::arrivals).sum();
    double mean = frequencies.stream().mapToLong(Forecast::asked).sum() / (double) Math.max(1, pods);
    return mean <= 0 ? LEAST : (int) Math.clamp(Math.ceil(1.5 * largestHost / mean), LEAST, MOST);
  }

  /**
   * The pods of each filling, as positions in the frequencies. Every position of the fillings has the frequencies as
   * they are: what a filling gets of a kind too many, others get too few.
   */
  private static int[][] fills(List<Frequency> frequencies, int length) {
    long[] upTo = new long[frequencies.size()];
    long sum = 0;
    for (int i = 0; i < upTo.length; i++) {
      sum += frequencies.get(i).arrivals();
      upTo[i] = sum;
    }
    int[][] fills = new int[FILLS][length];
    long random = 12345;
    for (int position = 0; position < length; position++) {
      int[] order = new int[FILLS];
      for (int i = 0; i < FILLS; i++) {
        random = random * 6364136223846793005L + 1442695040888963407L;
        int j = (int) (((random >>> 33) * (i + 1)) >>> 31);
        order[i] = order[j];
        order[j] = i;
      }
      for (int fill = 0; fill < FILLS; fill++) {
        random = random * 6364136223846793005L + 1442695040888963407L;
        double point = (order[fill] + (random >>> 40) / (double) (1 << 24)) / FILLS * sum;
        int at = Arrays.binarySearch(upTo, (long) point);
        int index = at >= 0 ? at + 1 : -at - 1;
        fills[fill][position] = Math.min(index, upTo.length - 1);
      }
    }
    return fills;
  }

  /** What is expected to stay idle on a host in that state, in parts of cards, summed over {@value #FILLS} fillings. */
  public long cost(FreeParts state) {
    long before = known.get(state.fingerprint());
    if (before != KnownCosts.UNKNOWN) {
      return before;
    }
    long cost =
        new Filling(arrivals(state), state).idleAfterAll() + large.lost(state) * ROOM_WEIGHT / 1000 * FILLS / 1_000_000;
    known.put(state.fingerprint(), cost);
    return cost;
  }

  /** The same once the demand has taken its part of that card, of which the host has one. */
  public long costAfter(FreeParts state, Demand demand, long card) {
    long before = known.get(state.fingerprintAfter(demand, card));
    return before != KnownCosts.UNKNOWN ? before : cost(state.after(demand, card));
  }

  private Arrivals arrivals(FreeParts state) {
    BitSet kinds = new BitSet();
    for (int i = 0; i < state.cards(); i++) {
      kinds.set(FreeParts.kind(state.card(i)));
    }
    return arrivals.computeIfAbsent(kinds, of -> new Arrivals(demands, fills, of.stream().toArray()));
  }

  /** A growth of costs in steps, so that growths that differ by no more than noise are mostly equal. */
  public static long steps(long growth) {
    return Math.floorDiv(growth + NOISE / 2, NOISE);
  }
}
