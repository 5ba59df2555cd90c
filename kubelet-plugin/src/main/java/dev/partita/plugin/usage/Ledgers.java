package dev.partita.plugin.usage;

import dev.partita.plugin.usage.measure.CardProcess;
import dev.partita.plugin.usage.measure.ContainerShares;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The ledgers of shares at one moment.
 *
 * @param containers knows whose a process is
 */
record Ledgers(Map<ShareRef, Ledger> byShare, ContainerShares containers) {
  /** A share's ledger. */
  Ledger of(ShareRef share) {
    return byShare.getOrDefault(share, Ledger.NONE);
  }

  /**
   * The seats of a process. Of the locks that bear its pid only those of shares count that its container has: the
   * others were taken by a process that has ended.
   */
  List<CardProcess.SeatOf> seats(ProcessIdentity process, Collection<WatchedShare> shares) {
    List<CardProcess.SeatOf> seats = new ArrayList<>();
    for (WatchedShare share : shares) {
      List<Ledger.Seat> own = of(share.ref()).seats().stream().filter(seat -> seat.pid() == process.pid()).toList();
      if (!own.isEmpty() && containers.has(process, share)) {
        own.forEach(seat -> seats.add(new CardProcess.SeatOf(share.ref(), seat.slot())));
      }
    }
    return seats;
  }

  /** Whether any lock bears the pid. */
  boolean haveLockOf(long pid, Collection<WatchedShare> shares) {
    return shares.stream().flatMap(share -> of(share.ref()).seats().stream()).anyMatch(seat -> seat.pid() == pid);
  }
}
