package dev.partita.plugin.usage.region;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UntrustedFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * What the plugin writes into a process' slot for NVML in the container to show.
 *
 * @param field where in the slot
 */
public record SlotWrite(UsageRegion.Slot slot, int field, List<Long> numbers) {
  public SlotWrite {
    numbers = List.copyOf(numbers);
  }

  /** What the process takes beside its allocations. */
  public static SlotWrite overhead(UsageRegion.Slot slot, long bytes) {
    return new SlotWrite(slot, UsageRegion.SLOT_OVERHEAD, List.of(bytes / UsageRegion.UNIT));
  }

  /** The newest sample that NVML had of the process: percent of the card, one byte an engine. */
  public static SlotWrite sample(UsageRegion.Slot slot, ProcessSample sample) {
    List<Long> numbers = List.of(sample.timestampMicros(), UsageRegion.utilization(sample));
    return new SlotWrite(slot, UsageRegion.SLOT_SAMPLED, numbers);
  }

  /**
   * Writes it, if the region has its size and the slot still has that owner, and for overhead the contexts that were
   * measured. If these change between the look and the write, a wrong figure stays until the next one is written, or
   * the slot's next owner clears it.
   */
  void into(UntrustedFile region) {
    if (region.size() != ShareFolders.USAGE_SIZE) {
      return;
    }
    long at = UsageRegion.HEADER_BYTES + (long) slot.index() * UsageRegion.SLOT_BYTES;
    byte[] now = region.read(at, UsageRegion.SLOT_BYTES);
    if (UsageRegion.slots(now, UsageRegion.Step.NONE).stream().anyMatch(this::isStillOf)) {
      ByteBuffer bytes = ByteBuffer.allocate(numbers.size() * Long.BYTES).order(ByteOrder.nativeOrder());
      numbers.forEach(bytes::putLong);
      region.write(at + field, bytes.array());
    }
  }

  /** Overhead that was measured without a context would have the library give back what it has charged for that one. */
  private boolean isStillOf(UsageRegion.Slot now) {
    return now.owner() == slot.owner()
        && (field != UsageRegion.SLOT_OVERHEAD
            || (now.contextBytes() == slot.contextBytes() && now.contextBegun() == slot.contextBegun()));
  }
}
