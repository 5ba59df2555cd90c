package dev.partita.plugin.usage;

import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.usage.measure.CardProcess;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ContainerShares;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.OverheadBook;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.verdict.ExitGrace;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.UsageReckoning;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Reads what shares are used for: their ledgers, before and after NVML is asked, and the processes on their cards. */
final class UsageReader {
  private final Supplier<Map<String, List<ProcessMemory>>> nvml;
  private final HostProcesses host;
  private final ContainerShares containers;
  private final OverheadBook book;
  private final Clock monotonicClock;
  private final ExitGrace exitGrace = new ExitGrace();
  private final Map<String, List<ProcessMemory>> last = new HashMap<>(); // what each card has told last

  /**
   * @param nvml what processes hold of each card that tells, by the card's UUID
   * @param book takes the readings in
   */
  UsageReader(
      Supplier<Map<String, List<ProcessMemory>>> nvml,
      HostProcesses host,
      ContainerShares containers,
      OverheadBook book,
      Clock monotonicClock) {
    this.nvml = nvml;
    this.host = host;
    this.containers = containers;
    this.book = book;
    this.monotonicClock = monotonicClock;
  }

  /**
   * What NVML and the shares' ledgers say at one moment.
   *
   * @param uses where a card does not tell who uses it, with what it told last
   * @param ledgers as they were read after NVML was asked
   * @param told cards that tell who uses them
   */
  record Reading(Map<ShareRef, ShareUse> uses, Ledgers ledgers, Set<String> told) {}

  /**
   * Reads now.
   *
   * @param ledger reads a share's ledger
   * @param used what processes had of the cards' time since the last reading, by card
   */
  Reading read(List<WatchedShare> shares, Function<WatchedShare, Ledger> ledger, Map<String, CardTime> used) {
    Ledgers before = ledgers(shares, ledger);
    Map<String, List<ProcessMemory>> held = nvml.get();
    last.keySet().retainAll(shares.stream().map(WatchedShare::card).collect(Collectors.toSet()));
    last.putAll(held);
    Ledgers after = ledgers(shares, ledger);
    exitGrace.beginLook();
    containers.beginLook();
    List<CardProcess> processes = new ArrayList<>();
    shares.stream()
        .collect(Collectors.groupingBy(WatchedShare::card, TreeMap::new, Collectors.toList()))
        .forEach(
            (card, ofCard) -> {
              CardTime time = used.getOrDefault(card, CardTime.NONE);
              for (ProcessMemory process : last.getOrDefault(card, List.of())) {
                onCard(process, card, time, ofCard, before, after).ifPresent(processes::add);
              }
            });
    Map<ShareRef, ShareUse> uses = UsageReckoning.of(shares, after.byShare(), processes, book);
    return new Reading(uses, after, Set.copyOf(held.keySet()));
  }

  private Ledgers ledgers(List<WatchedShare> shares, Function<WatchedShare, Ledger> ledger) {
    Map<ShareRef, Ledger> byShare = new HashMap<>();
    shares.forEach(share -> byShare.put(share.ref(), ledger.apply(share)));
    return new Ledgers(byShare, containers);
  }

  /** A process that NVML has on a card; empty if it has ended since, or is ending. */
  private Optional<CardProcess> onCard(
      ProcessMemory process,
      String card,
      CardTime time,
      List<WatchedShare> ofCard,
      Ledgers before,
      Ledgers after) {
    Optional<ProcessIdentity> found = host.identity(process.pid());
    if (found.isEmpty()) {
      return Optional.empty();
    }
    ProcessIdentity identity = found.get();
    List<CardProcess.SeatOf> seats = after.seats(identity, ofCard);
    if (seats.isEmpty() && exitGrace.excuse(identity, host.isEnding(process.pid()), monotonicClock.instant())) {
      return Optional.empty();
    }
    Set<ShareRef> container = seats.isEmpty() ? containers.of(identity, ofCard) : Set.of();
    List<CardProcess.SeatOf> former = before.seats(identity, ofCard);
    return Optional.of(
        new CardProcess(identity, card, process.bytes(), former, seats, container, time.of(process.pid())));
  }
}
