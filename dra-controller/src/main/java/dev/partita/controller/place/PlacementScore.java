package dev.partita.controller.place;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.Taking;
import java.util.function.Function;

/**
 * How good a placement is; the smaller the better, compared from the first component to the last. What is free is
 * counted in parts of which a card has {@link #CARD} of memory and as many of cores: whole numbers, so that sums do not
 * depend on their order.
 *
 * @param rank how far down the alternatives of firstAvailable it is
 * @param opened untouched cards that shares begin; a card that shares have begun already counts {@link #UNBALANCED} if
 *        its free cores would lack memory
 * @param stranded by how much more of the memory than of the cores is taken of the cards that are opened, in percent:
 *        cores that more such shares will leave unused. Of MIG instances, how much less can be made of their cards than
 *        before: {@link dev.partita.controller.inventory.MigGeometry#room}
 * @param leftover what stays free on the cards that are used
 * @param free what stays free on the node; negative where pods are to be spread
 * @param node name, so that equal placements are decided the same way every time
 */
public record PlacementScore(int rank, int opened, int stranded, long leftover, long free, String node)
    implements Comparable<PlacementScore> {
  /**
   * The parts of a card: fine enough to tell one byte from none on every card below 900 GiB, coarse enough to add up
   * thousands of cards.
   */
  public static final long CARD = 1_000_000_000_000L;

  /** How much a share adds to {@link #opened} on a card that others have begun, if its free cores then lack memory. */
  public static final int UNBALANCED = 2;

  private static final int MOST_TURNS = SharingStrategy.TimeSlicing.MOST;

  /** Percent of cores that may be left without memory. */
  private static final int CORES_UNHEEDED = 10;

  @Override
  public int compareTo(PlacementScore other) {
    if (rank != other.rank) {
      return Integer.compare(rank, other.rank);
    }
    if (opened != other.opened) {
      return Integer.compare(opened, other.opened);
    }
    if (stranded != other.stranded) {
      return Integer.compare(stranded, other.stranded);
    }
    if (leftover != other.leftover) {
      return Long.compare(leftover, other.leftover);
    }
    return free != other.free ? Long.compare(free, other.free) : node.compareTo(other.node);
  }

  /** The score of the same placement on a host that is alike, card by card. */
  public PlacementScore on(String otherNode) {
    return new PlacementScore(rank, opened, stranded, leftover, free, otherNode);
  }

  /** How good a card is for a device, before it is placed; the smaller the better. */
  static long ofCard(Match match, Account before, Packing packing) {
    if (match.takes() == Taking.NOTHING || match.takes() == Taking.CARD) {
      return 0;
    }
    Card card = match.device().card();
    Account after = match.after(before);
    if (packing == Packing.SPREAD) {
      return -free(card, after) - (before.isUntouched() ? 10 * CARD : 0)
          + (after.isCut() ? stranded(card, before, after) : 0);
    }
    return new CardCost(opened(card, before, after), stranded(card, before, after), free(card, after)).packed();
  }

  /**
   * What one card adds to the score of a placement that uses it.
   *
   * @param opened at most 2
   * @param stranded at most 100
   * @param leftover at most two cards
   */
  public record CardCost(int opened, int stranded, long leftover) implements Comparable<CardCost> {
    /** As one number: the first difference decides, as for nodes. */
    public long packed() {
      return opened * 1_000L * CARD + stranded * 3L * CARD + leftover;
    }

    public CardCost plus(CardCost other) {
      return new CardCost(opened + other.opened, stranded + other.stranded, leftover + other.leftover);
    }

    @Override
    public int compareTo(CardCost other) {
      int byOpened = Integer.compare(opened, other.opened);
      int byStranded = byOpened != 0 ? byOpened : Integer.compare(stranded, other.stranded);
      return byStranded != 0 ? byStranded : Long.compare(leftover, other.leftover);
    }

    public static CardCost of(long packed) {
      return new CardCost((int) (packed / (1_000L * CARD)), (int) (packed % (1_000L * CARD) / (3L * CARD)),
          packed % (1_000L * CARD) % (3L * CARD));
    }

    /** Of a card without MIG instances, of which a share takes so much. */
    public static CardCost ofShare(Card card, Account before, long memory, int cores) {
      long allocatable = card.allocatableMemory();
      long freeMemory = allocatable - before.memory() - memory;
      int freeCores = Account.CORES - before.cores() - cores;
      long leftover = parts(allocatable, freeMemory, freeCores);
      if (before.isUntouched()) {
        return new CardCost(1, PlacementScore.stranded(allocatable, memory, cores), leftover);
      }
      return new CardCost(unbalanced(allocatable, freeMemory, cores, freeCores), 0, leftover);
    }
  }

  static PlacementScore ofNode(
      int rank,
      GpuHost host,
      Accounts before,
      Function<Card, Account> after,
      Packing packing) {
    int opened = 0;
    int stranded = 0;
    long leftover = 0;
    long free = 0;
    for (Card card : host.cards()) {
      Account was = before.of(card.key());
      Account is = after.apply(card);
      long left = free(card, is);
      free += left;
      if (!was.equals(is) && is.wholes() == 0) {
        opened += opened(card, was, is);
        stranded += stranded(card, was, is);
        leftover += left;
      }
    }
    return packing == Packing.SPREAD
        ? new PlacementScore(rank, 0, 0, 0, -free, host.name())
        : new PlacementScore(rank, opened, stranded, leftover, free, host.name());
  }

  private static int opened(Card card, Account before, Account after) {
    if (before.isUntouched()) {
      return 1;
    }
    if (after.isCut()) {
      return 0;
    }
    long allocatable = card.allocatableMemory();
    return unbalanced(allocatable, allocatable - after.memory(), after.cores() - before.cores(),
        Account.CORES - after.cores());
  }

  /** What a share of so many cores costs on a card that others have begun: {@link #UNBALANCED} or nothing. */
  private static int unbalanced(long allocatableMemory, long freeMemory, int cores, int freeCores) {
    return cores > 0 && freeMemory < needed(allocatableMemory, freeCores) ? UNBALANCED : 0;
  }

  /**
   * Bytes that have to stay free on a card of that much memory (bytes), so that its free cores (percent) find memory.
   */
  public static long needed(long allocatableMemory, int freeCores) {
    return Math.ceilDiv(allocatableMemory * Math.max(0, freeCores - CORES_UNHEEDED), Account.CORES);
  }

  private static int stranded(Card card, Account before, Account after) {
    if (after.isCut()) {
      return card.mig().room(before.begunInstances()) - card.mig().room(after.begunInstances());
    }
    return before.isUntouched() ? stranded(card.allocatableMemory(), after.memory(), after.cores()) : 0;
  }

  /** See {@link PlacementScore}; 0 where no cores are asked. */
  public static int stranded(long allocatableMemory, long memory, int cores) {
    return cores == 0 ? 0 : (int) Math.max(0, memory * 100 / Math.max(1, allocatableMemory) - cores);
  }

  /** What is free of a card. */
  public static long free(Card card, Account account) {
    if (account.turns() > 0) {
      return 2 * CARD * Math.max(0, MOST_TURNS - account.turns()) / MOST_TURNS;
    }
    if (account.isCut()) {
      int all = Integer.bitCount(card.mig().slices());
      long untouched =
          2 * CARD * Math.max(0, all - Integer.bitCount(card.mig().slices(account.begunInstances())))
              / Math.max(1, all);
      return untouched + account.sharedInstances().stream().mapToLong(shared -> freeOf(shared, card, all)).sum();
    }
    return account.wholes() > 0
        ? 0
        : parts(card.allocatableMemory(), card.allocatableMemory() - account.memory(), Account.CORES - account.cores());
  }

  /** What is free of an instance of which there are shares: of its slices the part that its memory is free. */
  private static long freeOf(Account.SharedInstance shared, Card card, int all) {
    long memory = card.mig().memoryBytes(shared.slot());
    int slices = Integer.bitCount(card.mig().slices() & card.mig().slices(shared.slot()));
    double part = (double) Math.max(0, memory - shared.memory()) / Math.max(1, memory);
    return Math.round(2 * CARD * part * slices / Math.max(1, all));
  }

  /** That much memory (bytes) and cores (percent) of a card with that much memory, in parts. */
  public static long parts(long allocatableMemory, long freeMemory, int freeCores) {
    double memory = (double) Math.max(0, freeMemory) / Math.max(1, allocatableMemory);
    return Math.round(memory * CARD) + Math.max(0, freeCores) * (CARD / Account.CORES);
  }
}
