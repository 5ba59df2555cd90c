package dev.partita.controller.index;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.place.PlacementScore.CardCost;
import dev.partita.controller.place.PlacementScore;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Computes a score than which no placement on a host is better, from one look at each card. For one request of shares
 * it is the score of the best placement itself, unless constraints or groups of cards rule out the best cards. Of a
 * host that cannot serve the choice at all it mostly says so.
 */
final class ScoreLowerBound {
  private final List<RequestMatcher> matchers;
  private final int rank;
  private final boolean known;
  private final boolean spread;
  private final boolean packed;

  ScoreLowerBound(Choice choice, Function<DeviceRequest, RequestMatcher> matchers) {
    this.matchers = choice.requests().stream().flatMap(List::stream).map(matchers).toList();
    this.rank = choice.rank();
    this.known =
        this.matchers.stream()
            .allMatch(matcher -> matcher.ofPositions() && matcher.request().modes() == Modes.INFERRED);
    this.spread = this.matchers.stream().allMatch(matcher -> matcher.request().placement().nodes() == Packing.SPREAD);
    this.packed = this.matchers.stream().noneMatch(matcher -> matcher.request().placement().nodes() == Packing.SPREAD);
  }

  /** Empty if the host cannot serve the choice. */
  Optional<PlacementScore> on(HostState hostState) {
    if (!known) {
      return Optional.of(lowest(hostState));
    }
    List<Open> shares = new ArrayList<>();
    int wholes = 0;
    long forWholes = 0;
    long forAny = 0;
    long least = 0;
    long most = 0;
    for (RequestMatcher matcher : matchers) {
      @Nullable Open open = Open.of(matcher, hostState);
      if (open == null) {
        return Optional.empty();
      }
      if (open.unclear()) {
        return Optional.of(lowest(hostState));
      }
      if (open.takes() == Taking.CARD) {
        wholes += open.wanted();
        forWholes |= open.cards();
        least += 2L * open.wanted() * PlacementScore.CARD;
        most += 2L * open.wanted() * PlacementScore.CARD;
      } else if (open.takes() == Taking.SHARE) {
        shares.add(open);
        // What is free is rounded card by card: a difference may be one part more or less.
        least += open.wanted() * (open.leastParts() - 2);
        most += open.wanted() * (open.mostParts() + 2);
      }
      forAny |= open.cards();
    }
    int atOnce = wholes + shares.stream().mapToInt(Open::wanted).max().orElse(0);
    if (Long.bitCount(forWholes) < wholes || Long.bitCount(forAny) < atOnce) {
      return Optional.empty();
    }
    return Optional.of(score(hostState, shares, least, most, most - 2L * wholes * PlacementScore.CARD));
  }

  private PlacementScore score(HostState hostState, List<Open> shares, long least, long most, long byShares) {
    if (!packed) {
      long free = spread ? least - hostState.free() : Math.min(least - hostState.free(), hostState.free() - most);
      return new PlacementScore(rank, 0, 0, 0, free, hostState.host().name());
    }
    CardCost cost = cost(hostState, shares, byShares);
    return new PlacementScore(rank, cost.opened(), cost.stranded(), cost.leftover(), hostState.free() - most,
        hostState.host().name());
  }

  private static CardCost cost(HostState hostState, List<Open> shares, long taken) {
    return switch (shares.size()) {
      case 0 -> new CardCost(0, 0, 0);
      case 1 -> shares.getFirst().cheapest();
      case 2 -> shares.getFirst().wanted() == 1 && shares.getLast().wanted() == 1
          ? ofPair(hostState, shares.getFirst(), shares.getLast())
          : ofMany(hostState, shares, taken);
      default -> ofMany(hostState, shares, taken);
    };
  }

  /** The cost of two shares, which are on two cards or on one. */
  private static CardCost ofPair(HostState hostState, Open first, Open second) {
    CardCost best = first.cheapest().plus(second.cheapest());
    for (int i = 0; i < hostState.positions().size(); i++) {
      if ((first.cards() & second.cards() & 1L << i) != 0) {
        Card card = hostState.host().cards().get(i);
        Account account = hostState.accounts().get(i);
        Match one = first.matcher().at(hostState, i).getFirst();
        Match other = second.matcher().at(hostState, i).getFirst();
        long memory = one.memory() + other.memory();
        int cores = one.cores() + other.cores();
        if (memory <= card.allocatableMemory() - account.memory() && cores <= Account.CORES - account.cores()) {
          CardCost together = CardCost.ofShare(card, account, memory, cores);
          best = together.compareTo(best) < 0 ? together : best;
        }
      }
    }
    return best;
  }

  /** Shares of several requests may be on the same cards, but each request needs as many cards as it asks for. */
  private static CardCost ofMany(HostState hostState, List<Open> shares, long taken) {
    CardCost most = new CardCost(0, 0, 0);
    for (Open share : shares) {
      long[] before = new long[Long.bitCount(share.cards())];
      int count = 0;
      for (int i = 0; i < hostState.positions().size(); i++) {
        if ((share.cards() & 1L << i) != 0) {
          Account account = hostState.accounts().get(i);
          before[count++] = new CardCost(account.isUntouched() ? 1 : 0, 0,
              PlacementScore.free(hostState.host().cards().get(i), account)).packed();
        }
      }
      CardCost cheapest = cheapest(before, share.wanted());
      CardCost least = new CardCost(cheapest.opened(), 0, Math.max(0, cheapest.leftover() - taken));
      most = least.compareTo(most) > 0 ? least : most;
    }
    return most;
  }

  private PlacementScore lowest(HostState hostState) {
    return new PlacementScore(rank, 0, Integer.MIN_VALUE, 0, Long.MIN_VALUE, hostState.host().name());
  }

  private static CardCost cheapest(long[] packed, int wanted) {
    if (wanted < packed.length) {
      Arrays.sort(packed);
    }
    CardCost sum = new CardCost(0, 0, 0);
    for (int i = 0; i < wanted; i++) {
      sum = sum.plus(CardCost.of(packed[i]));
    }
    return sum;
  }

  /**
   * The cards of a host that a request can use as they stand.
   *
   * @param cards their positions as bits
   * @param wanted how many of them it needs
   * @param unclear whether more than looking at each card is needed to say anything
   * @param takes what it would take of each
   * @param leastParts of one card, in parts as {@link PlacementScore} counts them
   * @param mostParts likewise
   * @param cheapest what shares of the cheapest of them cost
   */
  private record Open(
      RequestMatcher matcher,
      long cards,
      int wanted,
      boolean unclear,
      @Nullable Taking takes,
      long leastParts,
      long mostParts,
      CardCost cheapest) {
    static final CardCost NOTHING = new CardCost(0, 0, 0);

    /** Null if there are too few. */
    static @Nullable Open of(RequestMatcher matcher, HostState hostState) {
      int positions = hostState.positions().size();
      if (positions > Long.SIZE) {
        return unclear(matcher);
      }
      long[] costs = new long[positions];
      long cards = 0;
      int count = 0;
      long least = Long.MAX_VALUE;
      long most = 0;
      @Nullable Taking takes = null;
      boolean all = matcher.request().count() instanceof DeviceRequest.Count.All;
      for (int i = 0; i < positions; i++) {
        List<Match> possible = matcher.at(hostState, i);
        if (possible.isEmpty()) {
          continue;
        }
        Match match = possible.getFirst();
        Taking its = match.takes();
        if (!its.isAmount() || (takes != null && takes != its)) {
          return unclear(matcher);
        }
        takes = its;
        Account account = hostState.accounts().get(i);
        Card card = hostState.host().cards().get(i);
        boolean open =
            its == Taking.CARD ? account.isUntouched() : !account.isClosedToShares() && holds(card, account, match);
        if (!open) {
          if (all && (its == Taking.CARD || account.isClosedToShares())) {
            return null; // all means this one, too
          }
          continue;
        }
        if (its == Taking.SHARE) {
          long parts = PlacementScore.parts(card.allocatableMemory(), match.memory(), match.cores());
          least = Math.min(least, parts);
          most = Math.max(most, parts);
          costs[count] = CardCost.ofShare(card, account, match.memory(), match.cores()).packed();
        }
        cards |= 1L << i;
        count++;
      }
      int wanted =
          matcher.request().count() instanceof DeviceRequest.Count.Exactly(int devices) ? devices : Math.max(1, count);
      if (count < wanted) {
        return null;
      }
      CardCost cheapest =
          takes == Taking.SHARE ? ScoreLowerBound.cheapest(Arrays.copyOf(costs, count), wanted) : NOTHING;
      return new Open(matcher, cards, wanted, false, takes, least, most, cheapest);
    }

    private static boolean holds(Card card, Account account, Match match) {
      return match.memory() <= Math.max(0, card.allocatableMemory() - account.memory())
          && match.cores() <= Math.max(0, Account.CORES - account.cores());
    }

    private static Open unclear(RequestMatcher matcher) {
      return new Open(matcher, 0, 0, true, null, 0, 0, NOTHING);
    }
  }
}
