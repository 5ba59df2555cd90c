package dev.partita.plugin.usage;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.share.ShareFolders;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A usage region, read as a file: a mapping of it would make this process die of SIGBUS when a container cuts the file. Through the
 * C library, for locks are asked for by descriptor.
 */
final class RegionFile implements AutoCloseable {
  private static final int O_RDONLY = 0;
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = 0x80000;
  private static final int SEEK_END = 2;

  private static final NativeLibrary C = NativeLibrary.getInstance("c");
  private static final Function OPEN = C.getFunction("open");
  private static final Function CLOSE = C.getFunction("close");
  private static final Function PREAD = C.getFunction("pread");
  private static final Function PWRITE = C.getFunction("pwrite");
  private static final Function FTRUNCATE = C.getFunction("ftruncate");
  private static final Function LSEEK = C.getFunction("lseek");

  private final int descriptor;

  private RegionFile(int descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * What the region says now; {@link Ledger#NONE} if it cannot be read. What a container has added behind its end is cut off: the region
   * lies in the node's memory.
   *
   * @param mostNanos of processor time that the search for its processes may take
   */
  static Ledger read(Path path, long mostNanos) {
    try (RegionFile file = open(path, O_RDONLY)) {
      if (file.size() > ShareFolders.USAGE_SIZE) {
        cut(path);
      }
      return file.hasItsSize() ? file.read(mostNanos) : Ledger.NONE;
    }
  }

  private static void cut(Path path) {
    try (RegionFile file = open(path, O_RDWR)) {
      FTRUNCATE.invokeInt(new Object[] {file.descriptor, (long) ShareFolders.USAGE_SIZE});
    }
  }

  /**
   * Writes into a slot what its process takes beside its allocations, for NVML in the container to show. Only if the slot still
   * has that owner; one that goes between the look and the write leaves a wrong figure until the slot's next owner clears it.
   */
  static void writeOverhead(Path path, UsageRegion.Slot slot, long bytes) {
    write(path, slot, UsageRegion.SLOT_OVERHEAD, bytes / UsageRegion.UNIT);
  }

  /** The same of the newest sample that NVML had of the process: percent of the card, one byte an engine. */
  static void writeSample(Path path, UsageRegion.Slot slot, ProcessSample sample) {
    write(path, slot, UsageRegion.SLOT_SAMPLED, sample.timestampMicros(), UsageRegion.utilization(sample));
  }

  private static void write(Path path, UsageRegion.Slot slot, int field, long... numbers) {
    try (RegionFile file = open(path, O_RDWR)) {
      if (!file.hasItsSize()) {
        return;
      }
      long at = UsageRegion.HEADER_BYTES + (long) slot.index() * UsageRegion.SLOT_BYTES;
      byte[] now = file.bytes(at, UsageRegion.SLOT_BYTES);
      if (UsageRegion.slots(now, UsageRegion.Step.NONE).stream().anyMatch(s -> s.owner() == slot.owner())) {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES).order(ByteOrder.nativeOrder());
        LongStream.of(numbers).forEach(bytes::putLong);
        PWRITE.invokeLong(new Object[] {file.descriptor, bytes.array(), (long) bytes.capacity(), at + field});
      }
    }
  }

  private static RegionFile open(Path path, int mode) {
    return new RegionFile(OPEN.invokeInt(new Object[] {path.toString(), mode | O_CLOEXEC}));
  }

  private boolean hasItsSize() {
    return size() == ShareFolders.USAGE_SIZE;
  }

  private long size() {
    return descriptor < 0 ? -1 : LSEEK.invokeLong(new Object[] {descriptor, 0L, SEEK_END});
  }

  private Ledger read(long mostNanos) {
    UsageRegion.Header header = UsageRegion.header(bytes(0, UsageRegion.HEADER_BYTES));
    if (!header.used()) {
      return Ledger.NONE;
    }
    RegionLocks.Holders holders = RegionLocks.holders(descriptor, header.slots(), mostNanos);
    List<UsageRegion.Slot> slots =
        UsageRegion.slots(bytes(UsageRegion.HEADER_BYTES, header.slots() * UsageRegion.SLOT_BYTES), header.paged());
    return ledger(header, slots, holders);
  }

  private static Ledger ledger(UsageRegion.Header header, List<UsageRegion.Slot> slots, RegionLocks.Holders holders) {
    List<Ledger.Seat> seats = new ArrayList<>();
    int hidden = 0;
    for (UsageRegion.Slot slot : slots) {
      long pid = holders.bySlot().getOrDefault(slot.index(), 0L);
      if (pid > 0) {
        seats.add(new Ledger.Seat(pid, slot));
      } else if (holders.bySlot().containsKey(slot.index())) {
        hidden++;
      }
    }
    return new Ledger(true, holders.complete(), seats, hidden, header.refused(), header.repairs());
  }

  /** The bytes there; zeros behind the end of a file that was cut meanwhile. */
  private byte[] bytes(long at, int length) {
    Memory memory = new Memory(Math.max(1, length));
    memory.clear();
    long got = PREAD.invokeLong(new Object[] {descriptor, memory, (long) length, at});
    byte[] bytes = new byte[length];
    memory.read(0, bytes, 0, Math.clamp(got, 0, length));
    return bytes;
  }

  @Override
  public void close() {
    if (descriptor >= 0) {
      CLOSE.invokeInt(new Object[] {descriptor});
    }
  }
}
