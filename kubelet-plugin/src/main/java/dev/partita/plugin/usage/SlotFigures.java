package dev.partita.plugin.usage;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.Samples;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.RegionFile;
import dev.partita.plugin.usage.region.SlotWrite;
import dev.partita.plugin.usage.region.UsageRegion;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes into the slots of processes what NVML in their containers shows of them: their overhead and their samples. */
final class SlotFigures {
  /**
   * Microseconds by which a sample's time may lie in the future. Samples later than that were made before the time of
   * day was set back, or do not carry it.
   */
  private static final long SET_BACK = 1_000_000;

  private final ShareFolders folders;
  private final Samples samples;
  private final HostProcesses host;
  private final Clock clock;
  private final Map<String, Long> newest = new HashMap<>(); // by card: microseconds of the newest sample

  /** @param clock the time of day */
  SlotFigures(ShareFolders folders, Samples samples, HostProcesses host, Clock clock) {
    this.folders = folders;
    this.samples = samples;
    this.host = host;
    this.clock = clock;
  }

  /** Writes what is new. */
  void write(List<WatchedShare> shares, Collection<ShareUse> uses, Ledgers ledgers) {
    Map<ShareRef, List<SlotWrite>> writes = new HashMap<>();
    uses.forEach(use -> addOverheads(use, ledgers, writes));
    addSamples(shares, ledgers, writes);
    writes.forEach(
        (share, ofShare) -> {
          var _ = new RegionFile(folders.regions(), folders.usageFile(share.uid(), share.key())).write(ofShare);
        });
  }

  private static void addOverheads(ShareUse use, Ledgers ledgers, Map<ShareRef, List<SlotWrite>> into) {
    ShareRef share = use.share().ref();
    for (ProcessUse process : use.processes()) {
      ledgers.of(share).seats().stream()
          .filter(seat -> seat.pid() == process.pid())
          .filter(seat -> Math.abs(seat.slot().overheadBytes() - process.overheadBytes()) >= UsageRegion.UNIT)
          .forEach(seat -> add(share, SlotWrite.overhead(seat.slot(), process.overheadBytes()), into));
    }
  }

  /**
   * The driver gives NVML in a container the host's pids with samples, and there nobody can tell whose these are.
   */
  private void addSamples(List<WatchedShare> shares, Ledgers ledgers, Map<ShareRef, List<SlotWrite>> into) {
    Map<String, List<WatchedShare>> cards = shares.stream().collect(Collectors.groupingBy(WatchedShare::card));
    newest.keySet().retainAll(cards.keySet());
    newest.values().removeIf(time -> time > ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()) + SET_BACK);
    cards.forEach(
        (card, ofCard) -> {
          for (ProcessSample sample : samples.of(card, newest.getOrDefault(card, 0L)).known()) {
            newest.merge(card, sample.timestampMicros(), Math::max);
            if (ledgers.haveLockOf(sample.pid(), ofCard)) {
              host.identity(sample.pid())
                  .ifPresent(
                      process -> ledgers.seats(process, ofCard)
                          .forEach(seat -> add(seat.share(), SlotWrite.sample(seat.slot(), sample), into)));
            }
          }
        });
  }

  private static void add(ShareRef share, SlotWrite write, Map<ShareRef, List<SlotWrite>> into) {
    into.computeIfAbsent(share, s -> new ArrayList<>()).add(write);
  }
}
