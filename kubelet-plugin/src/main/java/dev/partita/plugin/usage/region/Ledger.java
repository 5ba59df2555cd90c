package dev.partita.plugin.usage.region;

import java.util.List;

/**
 * What a usage region says, and which processes own its slots, by what the kernel says.
 *
 * @param usable whether there is a region of the right size that somebody has used
 * @param searched whether all of its slots were searched for their owners; if not, others than these may live
 * @param grown whether a container had added something behind the region's end
 * @param seats the slots whose owners live
 * @param hidden how many living owners are in pid namespaces that cannot be seen from here
 * @param refused allocations that the quota did not allow
 * @param repairs times that the region was found wrong and mended
 * @param throttledNanos time that launches waited for the core limit, over all threads
 */
public record Ledger(
    boolean usable,
    boolean searched,
    boolean grown,
    List<Seat> seats,
    int hidden,
    long refused,
    long repairs,
    long throttledNanos) {
  public static final Ledger NONE = new Ledger(false, true, false, List.of(), 0, 0, 0, 0);

  /**
   * A process' place in the ledger.
   *
   * @param pid as this pid namespace names it
   */
  public record Seat(long pid, UsageRegion.Slot slot) {}

  public Ledger {
    seats = List.copyOf(seats);
  }
}
