package dev.partita.plugin.usage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reckons what shares are used for, out of one reading of ledgers, NVML and processes.
 *
 * <p>A process counts with NVML's figure. What the ledgers have for it goes to the shares that have it; the rest goes to the first
 * share of its container. Shares that one container has of one card are one limit, as they are for the interception library.
 */
final class UsageReckoning {
  private final List<WatchedShare> shares;
  private final Map<ShareRef, Ledger> ledgers;
  private final Map<ShareRef, List<ProcessUse>> uses = new HashMap<>();
  private final Map<ShareRef, Set<ShareRef>> together = new HashMap<>();

  private UsageReckoning(List<WatchedShare> shares, Map<ShareRef, Ledger> ledgers) {
    this.shares = shares;
    this.ledgers = ledgers;
  }

  /**
   * Reckons.
   *
   * @param ledgers as they were read after NVML was asked
   * @param processes those on the shares' cards
   * @param book takes the reading in
   */
  static Map<ShareRef, ShareUse> of(
      List<WatchedShare> shares, Map<ShareRef, Ledger> ledgers, List<CardProcess> processes, OverheadBook book) {
    UsageReckoning reckoning = new UsageReckoning(shares, ledgers);
    Map<ShareRef, WatchedShare> byRef = new HashMap<>();
    shares.forEach(share -> byRef.put(share.ref(), share));
    for (CardProcess process : processes) {
      WatchedShare first = process.shares().stream().findFirst().map(byRef::get).orElse(null);
      if (first != null) {
        String model = first.grant().card().productName();
        OptionalLong overhead = book.take(process.key(), model, process.reading());
        reckoning.attribute(process, overhead.orElse(0));
      }
    }
    book.retain(processes.stream().map(CardProcess::key).toList());
    return reckoning.result();
  }

  private void attribute(CardProcess process, long overhead) {
    List<ShareRef> charged = List.copyOf(process.shares());
    charged.forEach(share -> join(share, process.shares()));
    boolean inLedger = !process.after().isEmpty();
    long others = 0;
    for (ShareRef share : charged.subList(1, charged.size())) {
      long held = process.ledgerBytes(share);
      others += held;
      if (held > 0) {
        add(share, new ProcessUse(process.pid(), process.start(), held, held, 0, inLedger));
      }
    }
    long rest = Math.max(process.bytes() - others, process.ledgerBytes(charged.getFirst()));
    add(charged.getFirst(), new ProcessUse(process.pid(), process.start(), rest, process.ledgerBytes(charged.getFirst()), overhead, inLedger));
  }

  private void add(ShareRef share, ProcessUse use) {
    uses.computeIfAbsent(share, s -> new ArrayList<>()).add(use);
  }

  private void join(ShareRef share, Set<ShareRef> others) {
    together.computeIfAbsent(share, s -> new TreeSet<>()).addAll(others);
  }

  private Map<ShareRef, ShareUse> result() {
    Map<ShareRef, ShareUse> result = new TreeMap<>();
    for (WatchedShare share : shares) {
      Ledger ledger = ledgers.getOrDefault(share.ref(), Ledger.NONE);
      List<ProcessUse> processes = uses.getOrDefault(share.ref(), List.of());
      result.put(
          share.ref(),
          new ShareUse(
              share,
              processes,
              ledger.seats().stream().mapToLong(seat -> seat.slot().heldBytes()).sum(),
              Math.max(0, ledger.refused()),
              Math.max(0, ledger.repairs()),
              ledger.hidden(),
              CoreState.of(ledger.seats().stream().map(Ledger.Seat::slot).toList()),
              MemoryState.of(processes, Math.min(excess(share), groupExcess(share)))));
    }
    return result;
  }

  private long excess(WatchedShare share) {
    return uses.getOrDefault(share.ref(), List.of()).stream().mapToLong(ProcessUse::bytes).sum() - share.share().memoryBytes();
  }

  /** What the share and those beside it in containers hold beyond their sum. */
  private long groupExcess(WatchedShare share) {
    Set<ShareRef> group = together.getOrDefault(share.ref(), Set.of());
    return shares.stream().filter(other -> other.equals(share) || group.contains(other.ref())).mapToLong(this::excess).sum();
  }
}
