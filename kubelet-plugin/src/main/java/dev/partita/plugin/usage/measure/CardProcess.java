package dev.partita.plugin.usage.measure;

import dev.partita.plugin.usage.region.UsageRegion;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * A process on a card, with everything known of it at one moment.
 *
 * @param bytes by NVML
 * @param before its seats in ledgers of shares of the card, read before NVML was asked
 * @param after the same, read after
 * @param container the shares of the card that its container has
 * @param gpuNanos of the card's time that it had since the last reading, by NVML's samples
 */
public record CardProcess(
    ProcessIdentity identity,
    String card,
    long bytes,
    List<SeatOf> before,
    List<SeatOf> after,
    Set<ShareRef> container,
    long gpuNanos) {

  /** A seat and the share that it is of. */
  public record SeatOf(ShareRef share, UsageRegion.Slot slot) {}

  public CardProcess {
    before = List.copyOf(before);
    after = List.copyOf(after);
  }

  public long pid() {
    return identity.pid();
  }

  public OverheadBook.Key key() {
    return new OverheadBook.Key(identity, card);
  }

  /**
   * The shares that it can be charged to, in the order in which that is done; empty for a process that is none of ours.
   */
  public SortedSet<ShareRef> shares() {
    SortedSet<ShareRef> shares = new TreeSet<>(container);
    after.forEach(seat -> shares.add(seat.share()));
    return shares;
  }

  /** What the ledger of one share has for it; the larger figure where it changed. */
  public long ledgerBytes(ShareRef share) {
    return larger(seat -> seat.share().equals(share), UsageRegion.Slot::heldBytes);
  }

  /** How much of that is managed memory, which may be on the card or not; the larger figure where it changed. */
  public long pagedBytes(ShareRef share) {
    return larger(seat -> seat.share().equals(share), UsageRegion.Slot::pagedBytes);
  }

  /** What all ledgers have for its contexts, which is not in {@link #ledgerBytes}. */
  public long contextBytes() {
    return after.stream().mapToLong(seat -> seat.slot().contextBytes()).sum();
  }

  /** What all ledgers have for it, against NVML's figure. */
  public OverheadBook.Reading reading() {
    long told = after.stream().mapToLong(seat -> seat.slot().overheadBytes()).max().orElse(0);
    return new OverheadBook.Reading(
        bytes, larger(seat -> true, UsageRegion.Slot::heldBytes), larger(seat -> true, UsageRegion.Slot::pagedBytes),
        told, changed(), new OverheadBook.Contexts(contextBytes(), contextBegun()));
  }

  private boolean contextBegun() {
    return Stream.concat(before.stream(), after.stream()).anyMatch(seat -> seat.slot().contextBegun());
  }

  private boolean changed() {
    return !steps(before).equals(steps(after));
  }

  private record Step(ShareRef share, int slot, long owner, long account) {}

  private static List<Step> steps(List<SeatOf> seats) {
    return seats.stream()
        .map(seat -> new Step(seat.share(), seat.slot().index(), seat.slot().owner(), seat.slot().account()))
        .toList();
  }

  private long larger(Predicate<SeatOf> which, ToLongFunction<UsageRegion.Slot> figure) {
    return Math.max(sum(before, which, figure), sum(after, which, figure));
  }

  private static long sum(List<SeatOf> seats, Predicate<SeatOf> which, ToLongFunction<UsageRegion.Slot> figure) {
    return seats.stream().filter(which).map(SeatOf::slot).mapToLong(figure).sum();
  }
}
