package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.DeviceCondition;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.CardProcess;
import dev.partita.plugin.usage.measure.OverheadBook;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.region.UsageRegion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UsageReckoningTest {
  private static final long GIB = 1L << 30;
  private static final long MIB = 1L << 20;
  private static final CardIdentity CARD = new CardIdentity(0, 0, "GPU-1", "NVIDIA H200", 140 * GIB, Optional.empty());

  private final WatchedShare a = share("a", 8);
  private final WatchedShare b = share("b", 4);
  private final WatchedShare wide = share("w", 80, 8);
  private final OverheadBook book = new OverheadBook();

  @Test
  void whatTheLedgerDoesNotKnowOfIsOverhead() {
    ShareUse use =
        reckon(process(1, 3 * GIB + 300 * MIB, seat(a, 2)), process(2, GIB + 400 * MIB, seat(a, 1))).get(a.ref());
    assertThat(Objects.requireNonNull(use).bytes()).isEqualTo(4 * GIB + 700 * MIB);
    assertThat(use.processes()).extracting(ProcessUse::ledgerBytes).containsExactly(2 * GIB, GIB);
    assertThat(use.overheadBytes()).isEqualTo(GIB + 700 * MIB);
    assertThat(use.memory()).isEqualTo(new MemoryState.Held());
  }

  @Test
  void whatContextsAreChargedIsNotTakenOffTheShareOnceMore() {
    CardProcess.SeatOf seat = new CardProcess.SeatOf(
        a.ref(), new UsageRegion.Slot(0, 1, GIB, 0, 1, 0, 0, 0, 400 * MIB, false));
    ShareUse larger = Objects.requireNonNull(reckon(process(1, GIB + 700 * MIB, seat)).get(a.ref()));
    assertThat(larger.overheadBytes()).isEqualTo(700 * MIB);
    assertThat(larger.unchargedOverheadBytes()).isEqualTo(300 * MIB);
    ShareUse smaller = Objects.requireNonNull(reckon(process(2, GIB + 300 * MIB, seat)).get(a.ref()));
    assertThat(smaller.overheadBytes()).isEqualTo(300 * MIB);
    assertThat(smaller.unchargedOverheadBytes()).isZero();
  }

  @Test
  void contextsOnTopOfAFullShareAreNobodysFault() {
    assertThat(memory(a, process(1, 8 * GIB + 300 * MIB, seat(a, 8))))
        .isEqualTo(new MemoryState.OverheadBeyond(300 * MIB));
  }

  @Test
  void moreThanContextsExplainBeyondTheShareIsExceeded() {
    MemoryState state = memory(a, process(1, 2 * GIB, seat(a, 2)), process(2, 20 * GIB, seat(a, 1)));
    assertThat(state).isInstanceOf(MemoryState.Exceeded.class);
    assertThat(((MemoryState.Exceeded) state).excessBytes()).isEqualTo(14 * GIB);
    assertThat(state.blamed()).extracting(ProcessUse::pid).containsExactly(2L);
  }

  @Test
  void modulesAndLocalMemoryOfManyGibibytesAreNobodysFault() {
    assertThat(memory(a, process(1, 11 * GIB, seat(a, 8)))).as("on top of a full share")
        .isEqualTo(new MemoryState.OverheadBeyond(3 * GIB));
    CardProcess unseated =
        new CardProcess(new ProcessIdentity(2, 1), "GPU-1", 3 * GIB, List.of(), List.of(), Set.of(a.ref()), 0);
    assertThat(memory(a, unseated)).as("before the first allocation").isEqualTo(new MemoryState.Held());
    assertThat(memory(a, process(3, 6 * GIB, seat(a, 2)), process(4, 5 * GIB, seat(a, 2))))
        .as("of two processes, together").isEqualTo(new MemoryState.OverheadBeyond(3 * GIB));
  }

  @Test
  void whoHoldsMoreThanIsPlausibleIsBlamedAndNotHisNeighbours() {
    CardProcess large = process(1, 4 * GIB, seat(a, 2));
    assertThat(memory(a, large, process(2, 8 * GIB + MIB, seat(a, 4))).blamed()).extracting(ProcessUse::pid)
        .containsExactly(2L);
    assertThat(memory(a, large, process(2, 30 * GIB, seat(a, 4))).blamed()).extracting(ProcessUse::pid)
        .containsExactly(2L);
  }

  @Test
  void whatIsPlausibleOfOneProcessIsNotOfManyTogether() {
    CardProcess[] thieves = {process(1, 8 * GIB, seat(a, 7)), process(2, 3 * GIB, seat(a, 0)),
      process(3, 2 * GIB, seat(a, 0)), process(4, 500 * MIB, seat(a, 0))};
    assertThat(memory(a, thieves)).isInstanceOf(MemoryState.Exceeded.class);
    assertThat(memory(a, thieves).blamed()).extracting(ProcessUse::pid).containsExactly(2L, 3L);
  }

  @Test
  void howMuchIsPlausibleCanBeSaid() {
    OverheadBook strict = new OverheadBook(2 * GIB, Map.of());
    OverheadBook generous = new OverheadBook(16 * GIB, Map.of());
    CardProcess process = process(1, 11 * GIB, seat(a, 8));
    assertThat(Objects.requireNonNull(reckon(strict, process).get(a.ref())).memory())
        .isInstanceOf(MemoryState.Exceeded.class);
    assertThat(Objects.requireNonNull(reckon(generous, process(1, 20 * GIB, seat(a, 8))).get(a.ref())).memory())
        .isEqualTo(new MemoryState.OverheadBeyond(12 * GIB));
  }

  @Test
  void aProcessOfTheContainerWithoutASeatCountsAndIsBlamedOnceContextsDoNotExplainIt() {
    CardProcess onlyAContext =
        new CardProcess(new ProcessIdentity(1, 1), "GPU-1", 500 * MIB, List.of(), List.of(), Set.of(a.ref()), 0);
    CardProcess past =
        new CardProcess(new ProcessIdentity(2, 1), "GPU-1", 5 * GIB, List.of(), List.of(), Set.of(a.ref()), 0);
    ShareUse use = Objects.requireNonNull(reckon(onlyAContext, past).get(a.ref()));
    assertThat(use.overheadBytes()).isEqualTo(5 * GIB + 500 * MIB);
    assertThat(use.memory().blamed()).extracting(ProcessUse::pid).containsExactly(2L);
    assertThat(use.memory()).isInstanceOf(MemoryState.Bypassed.class);
  }

  @Test
  void sharesOfOneContainerAreOneLimit() {
    CardProcess both = process(1, 11 * GIB + 300 * MIB, seat(a, 8), seat(b, 3));
    Map<ShareRef, ShareUse> uses = reckon(both);
    assertThat(uses.values()).allSatisfy(use -> assertThat(use.memory()).isEqualTo(new MemoryState.Held()));
    assertThat(Objects.requireNonNull(uses.get(a.ref())).overheadBytes()).isEqualTo(300 * MIB);
    assertThat(Objects.requireNonNull(uses.get(b.ref())).bytes()).isEqualTo(3 * GIB);
  }

  @Test
  void aShareIsNotBlamedForAnotherContainersProcesses() {
    Map<ShareRef, ShareUse> uses = reckon(process(1, 2 * GIB, seat(a, 2)), process(2, 30 * GIB, seat(b, 1)));
    assertThat(Objects.requireNonNull(uses.get(a.ref())).memory()).isEqualTo(new MemoryState.Held());
    assertThat(Objects.requireNonNull(uses.get(b.ref())).memory()).isInstanceOf(MemoryState.Exceeded.class);
  }

  @Test
  void aProcessOfNobodyIsLeftAlone() {
    CardProcess stranger =
        new CardProcess(new ProcessIdentity(1, 1), "GPU-1", 30 * GIB, List.of(), List.of(), Set.of(), 0);
    assertThat(reckon(stranger).values()).allSatisfy(use -> assertThat(use.processes()).isEmpty());
  }

  @Test
  void managedMemoryThatIsNotOnTheCardDoesNotHideWhatContextsTake() {
    lasting(process(1, GIB + 300 * MIB, seat(wide, 1)));
    assertThat(overhead(lasting(process(1, 8 * GIB + 300 * MIB, seat(wide, 12, 4))))).isEqualTo(300 * MIB);
    assertThat(overhead(lasting(process(1, 10 * GIB + 300 * MIB, seat(wide, 12, 4))))).as("some of it came to the card")
        .isEqualTo(300 * MIB);
    assertThat(overhead(lasting(process(1, 8 * GIB + 200 * MIB, seat(wide, 8)))))
        .as("without it they can be measured again").isEqualTo(200 * MIB);
  }

  @Test
  void whatAProcessTakesAtLeastIsNotLearnedWhileItHasManagedMemory() {
    lasting(process(1, 8 * GIB + 300 * MIB, seat(wide, 12, 4)), process(2, 4 * GIB + 100 * MIB, seat(wide, 4, 1)));
    assertThat(book.expected(CARD.productName())).isZero();
    lasting(process(3, GIB + 300 * MIB, seat(wide, 1)));
    lasting(process(3, 8 * GIB + 310 * MIB, seat(wide, 9, 1)));
    assertThat(book.expected(CARD.productName())).isEqualTo(300 * MIB);
  }

  @Test
  void whatAnOversubscribedShareMayShowIsItsPartOfTheCardAndItsManagedMemory() {
    assertThat(memory(wide, process(1, 12 * GIB, seat(wide, 12, 4)))).as("all of it is on an empty card")
        .isEqualTo(new MemoryState.Held());
    assertThat(memory(wide, process(1, 8 * GIB + 300 * MIB, seat(wide, 12, 4)))).as("none of it")
        .isEqualTo(new MemoryState.Held());
    assertThat(memory(wide, process(1, 12 * GIB + 300 * MIB, seat(wide, 12, 4)))).as("contexts on top")
        .isEqualTo(new MemoryState.OverheadBeyond(300 * MIB));
    assertThat(memory(wide, process(1, 70 * GIB, seat(wide, 4)))).isInstanceOfSatisfying(MemoryState.Exceeded.class,
        state -> assertThat(state.excessBytes()).isEqualTo(62 * GIB));
    assertThat(memory(wide, process(1, 90 * GIB, seat(wide, 80, 79)))).as("never more than its memory")
        .isInstanceOf(MemoryState.Exceeded.class);
  }

  @Test
  void theManagedMemoryOfOneProcessDoesNotExcuseAnother() {
    CardProcess managed = process(1, GIB, seat(wide, 70, 70));
    CardProcess past = process(2, 60 * GIB, seat(wide, 1));
    assertThat(memory(wide, managed, past).blamed()).extracting(ProcessUse::pid).containsExactly(2L);
  }

  @Test
  void managedMemoryThatIsFreedOrMadeWhileNvmlIsAskedIsNotHeldAgainstItsProcess() {
    List<CardProcess.SeatOf> more = List.of(seat(wide, 12, 4));
    List<CardProcess.SeatOf> less = List.of(seat(wide, 8));
    assertThat(memory(wide, new CardProcess(new ProcessIdentity(1, 1), "GPU-1", 12 * GIB, more, less, Set.of(), 0)))
        .isEqualTo(new MemoryState.Held());
    assertThat(memory(wide, new CardProcess(new ProcessIdentity(1, 1), "GPU-1", 12 * GIB, less, more, Set.of(), 0)))
        .isEqualTo(new MemoryState.Held());
  }

  @Test
  void whatAProcessHoldsOfTheCardIsNotMadeMoreByManagedMemoryElsewhere() {
    assertThat(
        Objects.requireNonNull(reckon(process(1, 8 * GIB + 300 * MIB, seat(wide, 12, 4))).get(wide.ref())).bytes())
        .isEqualTo(8 * GIB + 300 * MIB);
  }

  @Test
  void aLedgerThatSaysMoreThanItsShareCanHaveIsBelievedThatFar() {
    MemoryState forged = memory(a, process(1, 20 * GIB, seat(a, 20)));
    assertThat(forged).isInstanceOf(MemoryState.Exceeded.class);
    assertThat(forged.blamed()).singleElement()
        .satisfies(process -> assertThat(process.ledgerBytes()).isEqualTo(8 * GIB));
    assertThat(memory(wide, process(2, 60 * GIB, seat(wide, 60)))).as("beyond its part of the card only managed memory")
        .isInstanceOf(MemoryState.Exceeded.class);
  }

  @Test
  void twoSharesOfOneContainerMayHoldTheirPartsOfTheCardTogether() {
    CardProcess both = process(1, 12 * GIB, seat(b, 3), seat(wide, 9, 1));
    assertThat(reckon(both).values()).allSatisfy(use -> assertThat(use.memory()).isEqualTo(new MemoryState.Held()));
  }

  @Test
  void ofHundredsOfProcessesTheWordsNameAFewAndSayAllTheSameWhatToDo() {
    ShareUse use = Objects.requireNonNull(reckon(process(1, 12 * GIB, seat(a, 4))).get(a.ref()));
    List<ProcessUse> many = Collections.nCopies(400, use.memory().blamed().getFirst());
    for (MemoryState state : List.of(new MemoryState.Exceeded(GIB, many), new MemoryState.Bypassed(many))) {
      assertThat(UsageWords.message(use, state)).as("an event has 1024 bytes for it").hasSizeLessThan(1024)
          .contains("process 1 ", " and 395 more").containsPattern("ook at what (it|the pod) runs$");
    }
  }

  @Test
  void theWordsSayBothBoundsOfAnOversubscribedShare() {
    ShareUse use = Objects.requireNonNull(reckon(process(1, 8 * GIB, seat(wide, 12, 4))).get(wide.ref()));
    assertThat(UsageWords.message(use, use.memory())).isEqualTo(
        "its processes hold no more than 8 GiB (80 GiB with what its processes call managed memory), by NVML");
    ShareUse past = Objects.requireNonNull(reckon(process(1, 70 * GIB, seat(wide, 4))).get(wide.ref()));
    assertThat(UsageWords.message(past, past.memory())).contains(
        "holds 70 GiB, of which the ledger has 4 GiB; the claim has 8 GiB (80 GiB with what its processes call managed memory) of GPU-1");
    ShareUse plain = Objects.requireNonNull(reckon(process(1, 8 * GIB, seat(a, 8))).get(a.ref()));
    assertThat(UsageWords.message(plain, plain.memory())).isEqualTo("its processes hold no more than 8 GiB, by NVML");
  }

  @Test
  void aStateMustLastBeforeItCounts() {
    StableVerdict steady = new StableVerdict();
    MemoryState exceeded = new MemoryState.Exceeded(1, List.of());
    assertThat(steady.take(exceeded)).isEqualTo(new MemoryState.Held());
    assertThat(steady.take(new MemoryState.Held())).isEqualTo(new MemoryState.Held());
    assertThat(steady.take(exceeded)).isEqualTo(new MemoryState.Held());
    assertThat(steady.take(exceeded)).isEqualTo(new MemoryState.Held());
    assertThat(steady.take(exceeded)).isEqualTo(exceeded);
    assertThat(steady.take(new MemoryState.Held())).isEqualTo(exceeded);
  }

  @Test
  void aProcessWhoseLaunchesAreNotLimitedIsSaidWithItsReason() {
    assertThat(CoreState.of(List.of(slot(0, 0), slot(1, 1)))).isEqualTo(new CoreState.Enforced());
    assertThat(CoreState.of(List.of(slot(0, 1), slot(1, 2 | 3 << 8)))).isInstanceOfSatisfying(
        CoreState.NotEnforced.class, not -> assertThat(not.reason()).isEqualTo(DeviceCondition.Reason.TooManyStreams));
    assertThat(CoreState.of(List.of(slot(0, 2 | 200 << 8)))).isInstanceOfSatisfying(CoreState.NotEnforced.class,
        not -> assertThat(not.message()).contains("200"));
    assertThat(CoreState.of(List.of())).isEqualTo(new CoreState.Unused());
  }

  /** The share {@link #wide} after as many readings as an estimate rests on. */
  private ShareUse lasting(CardProcess... processes) {
    for (int i = 1; i < OverheadBook.WINDOW; i++) {
      reckon(processes);
    }
    return Objects.requireNonNull(reckon(processes).get(wide.ref()));
  }

  private static long overhead(ShareUse use) {
    return use.overheadBytes();
  }

  private MemoryState memory(WatchedShare share, CardProcess... processes) {
    return Objects.requireNonNull(reckon(processes).get(share.ref())).memory();
  }

  private Map<ShareRef, ShareUse> reckon(CardProcess... processes) {
    return reckon(book, processes);
  }

  private Map<ShareRef, ShareUse> reckon(OverheadBook book, CardProcess... processes) {
    Map<ShareRef, List<Ledger.Seat>> seats = new HashMap<>();
    for (CardProcess process : processes) {
      process.after().forEach(seat -> seats.computeIfAbsent(seat.share(), s -> new ArrayList<>())
          .add(new Ledger.Seat(process.pid(), seat.slot())));
    }
    Map<ShareRef, Ledger> ledgers = new HashMap<>();
    seats.forEach((share, all) -> ledgers.put(share, new Ledger(true, true, false, all, 0, 0, 0, 0)));
    return UsageReckoning.of(List.of(a, b, wide), ledgers, Arrays.asList(processes), book);
  }

  private static CardProcess process(long pid, long bytes, CardProcess.SeatOf... seats) {
    return new CardProcess(new ProcessIdentity(pid, 1), "GPU-1", bytes, List.of(seats), List.of(seats), Set.of(), 0);
  }

  private static CardProcess.SeatOf seat(WatchedShare share, long gib) {
    return seat(share, gib, 0);
  }

  /** @param paged how much of it is managed memory, in GiB as well */
  private static CardProcess.SeatOf seat(WatchedShare share, long gib, long paged) {
    return new CardProcess.SeatOf(share.ref(),
        new UsageRegion.Slot(0, 1, gib * GIB, paged * GIB, 1, 0, 0, 0, 0, false));
  }

  private static UsageRegion.Slot slot(int index, int compute) {
    return new UsageRegion.Slot(index, 1, 0, 0, 0, 0, compute, 0, 0, false);
  }

  private static WatchedShare share(String key, long gib) {
    return share(key, gib, gib);
  }

  /** @param physical how much of it may be on the card, in GiB as well */
  private static WatchedShare share(String key, long gib, long physical) {
    Share share = new Share(gib * GIB, physical * GIB, 0, CoreLimit.HARD, 1);
    Grant grant = new Grant(List.of("gpu"), "gpu-0-shared", Optional.of(key), CARD, new HookedShare(share));
    ClaimRef claim = new ClaimRef("default", "claim-" + key, "uid-" + key);
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false);
    return WatchedShare.of(List.of(prepared)).getFirst();
  }
}
