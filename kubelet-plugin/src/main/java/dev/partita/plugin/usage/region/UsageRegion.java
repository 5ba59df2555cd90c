package dev.partita.plugin.usage.region;

import dev.partita.plugin.nvml.ProcessSample;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the layout of hook-lib/include/partita/usage_region.h and believes nothing of it. Whatever the bytes are, the
 * reading ends, stays in bounds, and gives figures that cannot overflow. Numbers are in the machine's byte order.
 */
public final class UsageRegion {
  /** PARTITA_UNIT, in bytes. */
  public static final long UNIT = 512;

  /** PARTITA_SLOTS. */
  static final int SLOTS = 4096;

  static final int HEADER_BYTES = 4096;
  static final int SLOT_BYTES = 128;

  private static final int CONTEXTS = 44;
  private static final int CONTEXT_BEGUN = 1 << 31;

  /** Of the field `overhead` in a slot. */
  static final int SLOT_OVERHEAD = 48;

  /** Of the fields `sampled` and, behind it, `utilization` in a slot. */
  static final int SLOT_SAMPLED = 104;

  private static final long MAGIC = 0x3141544954524150L;
  private static final long UNITS_MASK = 0xffff_ffffL;
  private static final long SLOT_OF_STEP = 0xffff;
  private static final int HIGH_WATER = 128;
  private static final int REFUSED = 136;
  private static final int REPAIRS = 144;

  private static final int BEGINS = 160; // partita_begins

  /** Of compute.account.busy_ns. */
  static final int BUSY_OF_SHARE = 200;

  private static final int THROTTLED = 216; // compute.account.throttled_ns
  private static final int STRETCHES = 512; // compute.stretches
  private static final int PAGED_TOTAL = 3840;
  private static final int COMPUTE = 64;
  private static final int BUSY = 72;
  private static final int PAGED = 80;
  private static final int ACCOUNT = 96;
  private static final int PHASE_MASK = 3;
  private static final int PHASE_LIVE = 1;

  private UsageRegion() {}

  /**
   * The first page.
   *
   * @param used whether a process has used the region
   * @param slots how many slots may be in use; slots behind have never been
   * @param refused allocations that the quota did not allow
   * @param repairs times that the region was found wrong and mended
   * @param throttledNanos time that launches waited for the core limit, over all threads
   * @param paged the newest step of the account of managed memory
   */
  record Header(boolean used, int slots, long refused, long repairs, long throttledNanos, Step paged) {}

  /**
   * A step of an account, which says what one slot holds since: the slot itself says so only when the next step is
   * another slot's.
   *
   * @param units held by that slot
   */
  record Step(int slot, long units) {
    /** Of no slot. */
    static final Step NONE = new Step(-1, 0);
  }

  /**
   * A slot that a process owns by the region's word.
   *
   * @param owner counts the owners that the slot has had
   * @param heldBytes what it has allocated by the region's word, without credit that it took ahead and without contexts
   * @param pagedBytes how much of that is managed memory by the region's word, which may be on the card or not
   * @param account the word that says so, which changes with every step of the process
   * @param overheadBytes as it was last written there
   * @param compute whether its core limit holds: PARTITA_COMPUTE_… and the reason
   * @param busyNanos GPU time that it was timed at
   * @param contextBytes what its contexts are charged by the region's word, beside what it has allocated
   * @param contextBegun whether it says that a context is just being made
   */
  public record Slot(
      int index,
      long owner,
      long heldBytes,
      long pagedBytes,
      long account,
      long overheadBytes,
      int compute,
      long busyNanos,
      long contextBytes,
      boolean contextBegun) {}

  /** The field `utilization`: a byte each for SMs, memory, encoder and decoder. */
  static long utilization(ProcessSample sample) {
    return percent(sample.smPercent())
        | percent(sample.memoryPercent()) << 8
        | percent(sample.encoderPercent()) << 16
        | percent(sample.decoderPercent()) << 24;
  }

  private static long percent(int percent) {
    return Math.clamp(percent, 0, 100);
  }

  static Header header(byte[] page) {
    ByteBuffer bytes = buffer(page);
    long slots = Integer.toUnsignedLong(bytes.getInt(HIGH_WATER));
    return new Header(
        bytes.getLong(0) == MAGIC,
        (int) Math.min(slots, SLOTS),
        bytes.getLong(REFUSED),
        bytes.getLong(REPAIRS),
        bytes.getLong(THROTTLED),
        new Step((int) (bytes.getLong(PAGED_TOTAL + Long.BYTES) & SLOT_OF_STEP), bytes.getLong(PAGED_TOTAL) >>> 32));
  }

  /** A number, whose bytes these are. */
  static long number(byte[] bytes) {
    return buffer(bytes).getLong(0);
  }

  /**
   * When launches were pending.
   *
   * @param page the first one
   * @param slots the bytes of the slots from the first one, if what each process had matters
   */
  static LaunchTimes launchTimes(byte[] page, byte[] slots) {
    ByteBuffer bytes = buffer(page);
    int[] stretches = new int[LaunchTimes.STRETCHES];
    bytes.slice(STRETCHES, stretches.length * Integer.BYTES).order(bytes.order()).asIntBuffer().get(stretches);
    return new LaunchTimes(
        bytes.getLong(BUSY_OF_SHARE), slots(slots, Step.NONE).stream().mapToLong(Slot::busyNanos).sum(),
        new LaunchTimes.Begins(bytes.getLong(BEGINS), bytes.getLong(BEGINS + Long.BYTES)), stretches);
  }

  /**
   * The slots that are owned.
   *
   * @param slots the bytes of the slots from the first one
   * @param paged what the header says
   */
  static List<Slot> slots(byte[] slots, Step paged) {
    ByteBuffer bytes = buffer(slots);
    List<Slot> owned = new ArrayList<>();
    for (int i = 0; i < slots.length / SLOT_BYTES; i++) {
      int at = i * SLOT_BYTES;
      long state = bytes.getLong(at);
      if ((state & PHASE_MASK) != PHASE_LIVE) {
        continue;
      }
      long account = bytes.getLong(at + ACCOUNT);
      int contexts = bytes.getInt(at + CONTEXTS);
      long charged = Math.min(contexts & ~CONTEXT_BEGUN, account & UNITS_MASK);
      long held = (account & UNITS_MASK) - charged;
      long managed = i == paged.slot() ? paged.units() : bytes.getLong(at + PAGED) & UNITS_MASK;
      long overhead = Math.clamp(bytes.getLong(at + SLOT_OVERHEAD), 0, UNITS_MASK);
      owned.add(
          new Slot(
              i,
              state >>> 2,
              held * UNIT,
              Math.min(managed, held) * UNIT,
              account,
              overhead * UNIT,
              bytes.getInt(at + COMPUTE),
              bytes.getLong(at + BUSY),
              charged * UNIT,
              (contexts & CONTEXT_BEGUN) != 0));
    }
    return owned;
  }

  private static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }
}
