package dev.partita.plugin.usage;

import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A process on a card, with everything known of it at one moment.
 *
 * @param start in clock ticks since boot
 * @param bytes by NVML
 * @param before its seats in ledgers of shares of the card, read before NVML was asked
 * @param after the same, read after
 * @param container the shares of the card that its container has
 */
record CardProcess(
    long pid, long start, String card, long bytes, List<SeatOf> before, List<SeatOf> after, Set<ShareRef> container) {

  /** A seat and the share that it is of. */
  record SeatOf(ShareRef share, UsageRegion.Slot slot) {}

  CardProcess {
    before = List.copyOf(before);
    after = List.copyOf(after);
  }

  OverheadBook.Key key() {
    return new OverheadBook.Key(pid, start, card);
  }

  /** The shares that it can be charged to, in the order in which that is done; empty for a process that is none of ours. */
  SortedSet<ShareRef> shares() {
    SortedSet<ShareRef> shares = new TreeSet<>(container);
    after.forEach(seat -> shares.add(seat.share()));
    return shares;
  }

  /** What the ledgers have for it; the larger figure where it changed. */
  long ledgerBytes() {
    return Math.max(held(before), held(after));
  }

  /** What one share's ledger has for it. */
  long ledgerBytes(ShareRef share) {
    return held(after.stream().filter(seat -> seat.share().equals(share)).toList());
  }

  /** Whether its account changed between the two readings. */
  boolean changed() {
    return !steps(before).equals(steps(after));
  }

  private record Step(ShareRef share, int slot, long owner, long account) {}

  private static List<Step> steps(List<SeatOf> seats) {
    return seats.stream()
        .map(seat -> new Step(seat.share(), seat.slot().index(), seat.slot().owner(), seat.slot().account()))
        .toList();
  }

  private static long held(List<SeatOf> seats) {
    return seats.stream().mapToLong(seat -> seat.slot().heldBytes()).sum();
  }
}
