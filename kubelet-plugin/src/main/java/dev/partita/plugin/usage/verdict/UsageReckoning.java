package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.CardProcess;
import dev.partita.plugin.usage.measure.OverheadBook;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/**
 * Works out what shares are used for, from one reading of ledgers, NVML and processes.
 *
 * <p>A process counts with NVML's figure. What the ledgers have for it goes to the shares whose ledgers they are. The
 * rest goes to the first share of its container, and so does its GPU time. Shares that one container has of one card
 * are one limit, as they are for the interception library.
 *
 * <p>What a share holds of the card is bounded twice: by its memory with managed memory, which may all be on a card
 * that has room, and by its part of the card without. Only the ledger says how much is managed memory. It is believed
 * for each process by itself, and no more of it than the share can have granted.
 */
public final class UsageReckoning {
  private final List<WatchedShare> shares;
  private final Map<ShareRef, WatchedShare> byRef = new HashMap<>();
  private final Map<ShareRef, Ledger> ledgers;
  private final long plausible;
  private final Map<ShareRef, List<ProcessUse>> uses = new HashMap<>();
  private final Map<ShareRef, Set<ShareRef>> together = new HashMap<>();

  private UsageReckoning(List<WatchedShare> shares, Map<ShareRef, Ledger> ledgers, long plausible) {
    this.shares = shares;
    this.ledgers = ledgers;
    this.plausible = plausible;
    shares.forEach(share -> byRef.put(share.ref(), share));
  }

  /**
   * Works it out.
   *
   * @param ledgers as they were read after NVML was asked
   * @param processes those on the shares' cards
   * @param book takes the reading in
   */
  public static Map<ShareRef, ShareUse> of(
      List<WatchedShare> shares,
      Map<ShareRef, Ledger> ledgers,
      List<CardProcess> processes,
      OverheadBook book) {
    UsageReckoning reckoning = new UsageReckoning(shares, ledgers, book.plausible());
    for (CardProcess process : processes) {
      List<WatchedShare> charged =
          process.shares().stream().flatMap(ref -> Optional.ofNullable(reckoning.byRef.get(ref)).stream()).toList();
      if (!charged.isEmpty()) {
        String model = charged.getFirst().grant().contextModel();
        OptionalLong overhead = book.take(process.key(), model, process.reading());
        reckoning.attribute(process, charged, overhead.orElse(0));
      }
    }
    book.retain(processes.stream().map(CardProcess::key).toList());
    return reckoning.result();
  }

  private void attribute(CardProcess process, List<WatchedShare> charged, long overhead) {
    charged.forEach(share -> join(share.ref(), process.shares()));
    boolean inLedger = !process.after().isEmpty();
    long others = 0;
    for (WatchedShare share : charged.subList(1, charged.size())) {
      Granted granted = Granted.of(process, share);
      others += granted.bytes();
      if (granted.bytes() > 0) {
        add(share.ref(), new ProcessUse(process.identity(), granted.bytes(), granted.bytes(),
            granted.paged(), 0, 0, inLedger, 0));
      }
    }
    Granted granted = Granted.of(process, charged.getFirst());
    long rest = Math.max(process.bytes() - others, granted.resident());
    add(
        charged.getFirst().ref(),
        new ProcessUse(process.identity(), rest, granted.bytes(), granted.paged(), overhead,
            process.contextBytes(), inLedger, process.gpuNanos()));
  }

  /**
   * What a share's ledger has for a process, in bytes, as far as the share can have granted it: containers can write
   * anything.
   */
  private record Granted(long resident, long paged) {
    static Granted of(CardProcess process, WatchedShare share) {
      long paged = process.pagedBytes(share.ref());
      long resident = Math.min(process.ledgerBytes(share.ref()) - paged, share.share().physicalBytes());
      return new Granted(resident, Math.min(paged, share.share().memoryBytes() - resident));
    }

    long bytes() {
      return resident + paged;
    }
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
              ShareUse.LedgerTotals.of(ledger),
              CoreState.of(ledger.seats().stream().map(Ledger.Seat::slot).toList()),
              beside(share.ref()),
              MemoryState.of(processes, excess(share), plausible)));
    }
    return result;
  }

  private Set<ShareRef> beside(ShareRef share) {
    Set<ShareRef> others = new TreeSet<>(together.getOrDefault(share, Set.of()));
    others.remove(share);
    return others;
  }

  private long excess(WatchedShare share) {
    return Math.max(
        excess(share, ProcessUse::pinnedBytes, Share::physicalBytes),
        excess(share, ProcessUse::bytes, Share::memoryBytes));
  }

  /**
   * What the share holds beyond its limit, but no more than what it and the shares beside it in containers hold beyond
   * the sum of theirs.
   */
  private long excess(WatchedShare share, ToLongFunction<ProcessUse> held, ToLongFunction<Share> limit) {
    ToLongFunction<WatchedShare> own =
        one -> uses.getOrDefault(one.ref(), List.of()).stream().mapToLong(held).sum() - limit.applyAsLong(one.share());
    long alone = own.applyAsLong(share);
    long others =
        beside(share.ref()).stream().flatMap(ref -> Optional.ofNullable(byRef.get(ref)).stream()).mapToLong(own).sum();
    return Math.min(alone, alone + others);
  }
}
