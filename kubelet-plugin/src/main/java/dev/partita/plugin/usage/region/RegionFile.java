package dev.partita.plugin.usage.region;

import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UntrustedFile;
import dev.partita.plugin.share.UsageRegions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;

/**
 * Reads a share's usage region as a ledger, and writes into it. Writes are carried out later, on a thread of their own,
 * since a container can hold them up.
 */
public record RegionFile(UsageRegions regions, Path path) {
  /** Read many times a second, whatever number of slots a container says that there is. */
  private static final int MOST_SLOTS = 256;

  /**
   * What the region says now; {@link Ledger#NONE} if it cannot be read. What a container has added behind its end is
   * cut off: the region lies in the node's memory.
   *
   * @param mostNanos of processor time that the search for its processes may take
   */
  public Ledger read(long mostNanos) {
    return regions.read(path, file -> read(file, mostNanos), Ledger.NONE);
  }

  private Ledger read(UntrustedFile file, long mostNanos) {
    long size = file.size();
    boolean grown = size > ShareFolders.USAGE_SIZE;
    if (grown) {
      var _ = regions.change(path, RegionFile::cut);
    } else if (size < ShareFolders.USAGE_SIZE) {
      return Ledger.NONE;
    }
    UsageRegion.Header header = UsageRegion.header(file.read(0, UsageRegion.HEADER_BYTES));
    if (!header.used()) {
      return new Ledger(false, true, grown, List.of(), 0, 0, 0, 0);
    }
    RegionLocks.Holders holders = RegionLocks.holders(file.locks(), header.slots(), mostNanos);
    List<UsageRegion.Slot> slots =
        UsageRegion.slots(file.read(UsageRegion.HEADER_BYTES, header.slots() * UsageRegion.SLOT_BYTES), header.paged());
    return ledger(header, grown, slots, holders);
  }

  /**
   * When launches were pending, as the region says now; empty if it cannot be read, or if there was nothing since.
   *
   * @param busyNanos as it was read last
   * @param processes that use the share; only of several it matters what each of them had
   */
  public Optional<LaunchTimes> launchTimes(long busyNanos, int processes) {
    return regions.read(path, file -> launchTimes(file, busyNanos, processes), Optional.empty());
  }

  private static Optional<LaunchTimes> launchTimes(UntrustedFile file, long busyNanos, int processes) {
    if (UsageRegion.number(file.read(UsageRegion.BUSY_OF_SHARE, Long.BYTES)) == busyNanos) {
      return Optional.empty();
    }
    byte[] page = file.read(0, UsageRegion.HEADER_BYTES);
    int slots = processes > 1 ? Math.min(UsageRegion.header(page).slots(), MOST_SLOTS) : 0;
    return Optional.of(
        UsageRegion.launchTimes(page, file.read(UsageRegion.HEADER_BYTES, slots * UsageRegion.SLOT_BYTES)));
  }

  private static void cut(UntrustedFile file) {
    if (file.size() > ShareFolders.USAGE_SIZE) {
      file.cut(ShareFolders.USAGE_SIZE);
    }
  }

  /** Writes into slots, later and all in one go; nothing while an earlier write is held up. */
  public Future<?> write(List<SlotWrite> writes) {
    return regions.change(path, file -> writes.forEach(write -> write.into(file)));
  }

  private static Ledger ledger(
      UsageRegion.Header header,
      boolean grown,
      List<UsageRegion.Slot> slots,
      RegionLocks.Holders holders) {
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
    return new Ledger(true, holders.complete(), grown, seats, hidden, header.refused(), header.repairs(),
        header.throttledNanos());
  }
}
