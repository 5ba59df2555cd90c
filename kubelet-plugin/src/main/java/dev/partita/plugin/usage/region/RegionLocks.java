package dev.partita.plugin.usage.region;

import dev.partita.plugin.share.RecordLocks;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Asks the kernel who holds the record lock of which slot. That is the one thing about a slot that a container cannot
 * forge. Takes no lock itself.
 */
public final class RegionLocks {
  /**
   * Processor time that a search may take. The kernel walks all locks of a file for each question, and a container can
   * take as many as it likes, none of them a slot's: with 30,000 a search takes a second. One for a thousand processes
   * takes a tenth of this.
   */
  public static final long MOST_NANOS = 100_000_000;

  /**
   * The same for a region whose last search did not come to its end, since the region is looked at every second. It is
   * enough for two thousand processes.
   */
  public static final long MOST_NANOS_AGAIN = MOST_NANOS / 4;

  private final Kernel kernel;
  private final LongSupplier nanos;
  private final long end;
  private final Map<Integer, Long> holders = new HashMap<>();

  private RegionLocks(Kernel kernel, LongSupplier nanos, long mostNanos) {
    this.kernel = kernel;
    this.nanos = nanos;
    this.end = nanos.getAsLong() + mostNanos;
  }

  /** Whom questions are put to. */
  interface Kernel {
    /** The pid of one who holds a lock in that range of the file; empty if nobody does. */
    OptionalLong holder(long start, long length);
  }

  /**
   * What was found.
   *
   * @param bySlot pids as this pid namespace names them; 0 or less for a process that cannot be seen from here
   * @param complete whether the search came to its end: if not, there may be others
   */
  record Holders(Map<Integer, Long> bySlot, boolean complete) {
    Holders {
      bySlot = Map.copyOf(bySlot);
    }
  }

  /**
   * The holders of the first so many slots.
   *
   * @param locks of the region's file
   * @param mostNanos of processor time
   */
  static Holders holders(RecordLocks locks, int slots, long mostNanos) {
    return holders(locks::holder, ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime, slots, mostNanos);
  }

  /**
   * Asks somebody else than the kernel, by another clock.
   *
   * @param nanos processor time, by which the search is bounded: a busy node does not cut it short
   */
  static Holders holders(Kernel kernel, LongSupplier nanos, int slots, long mostNanos) {
    RegionLocks locks = new RegionLocks(kernel, nanos, mostNanos);
    boolean complete = locks.search(0, slots);
    return new Holders(locks.holders, complete);
  }

  /**
   * Searches by halves, as long as somebody holds a lock in the range: the kernel names any lock of a range, not the
   * first.
   *
   * @return whether that came to its end
   */
  private boolean search(int from, int to) {
    if (from >= to) {
      return true;
    }
    if (nanos.getAsLong() - end > 0) {
      return false;
    }
    OptionalLong holder =
        kernel.holder(UsageRegion.HEADER_BYTES + (long) from * UsageRegion.SLOT_BYTES,
            (long) (to - from - 1) * UsageRegion.SLOT_BYTES + 1);
    if (holder.isEmpty()) {
      return true;
    }
    if (to - from == 1) {
      holders.put(from, holder.getAsLong());
      return true;
    }
    int middle = (from + to) >>> 1;
    return search(from, middle) && search(middle, to);
  }
}
