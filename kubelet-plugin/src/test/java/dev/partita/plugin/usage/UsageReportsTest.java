package dev.partita.plugin.usage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.CoreState;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UsageReportsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final long MIB = 1L << 20;
  private static final long SECOND = 1_000_000_000;
  private static final long OVERHEAD = 300 * MIB;
  private static final double UNTOLD = -1;
  private static final MemoryState HELD = new MemoryState.Held();

  private long throttled;
  private final WatchedShare share = share();
  private final UseTotals totals = new UseTotals();
  private final List<Map<String, String>> written = new ArrayList<>();
  private final List<DeviceNotes> notes = new ArrayList<>();
  private final UsageReports reports = new UsageReports((claim, shares) -> {
    assertThat(shares).containsOnlyKeys(share.ref().key());
    notes.add(shares.get(share.ref().key()));
    written.add(notes.getLast().data());
  }, totals);

  @Test
  void aShareThatIsUsedSaysHowMuchAndByHowManyProcesses() {
    look(0, HELD, UNTOLD, 1000, 500);
    assertThat(written).containsExactly(
        Map.of("memoryUsed", "1500Mi", "memoryPeak", "1500Mi", "memoryOverhead", "300Mi", "processes", "2"));
  }

  @Test
  void figuresFollowOnceAMinuteAndOnlyWhenOneChangedByMuch() {
    look(0, HELD, UNTOLD, 1000);
    for (int second = 1; second <= 85; second++) {
      look(second, HELD, UNTOLD, 1000 + second * 10);
    }
    assertThat(written).extracting(data -> data.get("memoryUsed")).containsExactly("1000Mi", "1600Mi");
    for (int second = 86; second < 299; second++) {
      look(second, HELD, UNTOLD, 1850);
    }
    assertThat(written).as("250 MiB of 8 GiB is little").hasSize(2);
    look(299, HELD, UNTOLD, 1856);
    assertThat(written).as("256 MiB is much").hasSize(3);
  }

  @Test
  void thePeakStaysWhenMemoryIsGivenBack() {
    look(0, HELD, UNTOLD, 1000);
    look(10, HELD, UNTOLD, 5000);
    look(60, HELD, UNTOLD);
    assertThat(written.getLast()).contains(Map.entry("memoryUsed", "0"), Map.entry("memoryPeak", "5000Mi"),
        Map.entry("processes", "0"));
  }

  @Test
  void coresAreWhatItHadOfTheCardSinceTheReportBefore() {
    look(0, HELD, UNTOLD, 1000);
    assertThat(written.getLast()).as("not measured yet").doesNotContainKey("coresUsed");
    for (int second = 1; second <= 60; second++) {
      look(second, HELD, second <= 30 ? 1.0 : 0.0, 1000);
    }
    assertThat(written.getLast()).containsEntry("coresUsed", "50");
    for (int second = 61; second <= 120; second++) {
      look(second, HELD, 0.25, 1000);
    }
    assertThat(written.getLast()).containsEntry("coresUsed", "25");
  }

  @Test
  void whatLaunchesWaitedIsToldAsPartOfTheTimeInCoarseSteps() {
    look(0, HELD, UNTOLD, 1000);
    assertThat(written.getLast()).as("no report before").doesNotContainKey("throttledShare");
    throttled = 27 * SECOND;
    look(60, HELD, UNTOLD, 1000);
    assertThat(written.getLast()).containsEntry("throttledShare", "45");
    throttled = Long.MAX_VALUE;
    look(120, HELD, UNTOLD, 1000);
    assertThat(written.getLast()).as("of many threads, or a lie").containsEntry("throttledShare", "100");
    throttled = 0;
    look(180, HELD, UNTOLD);
    assertThat(written.getLast()).as("the ledger of an idle card is not read").containsEntry("throttledShare", "0");
  }

  @Test
  void aChangedConditionIsToldAfterAFewSeconds() {
    look(0, HELD, UNTOLD, 1000);
    for (int second = 1; second <= 5; second++) {
      look(second, new MemoryState.OverheadBeyond(MIB), UNTOLD, 1000);
    }
    assertThat(notes).hasSize(2);
    assertThat(notes.getLast().conditions().getFirst().status()).isEqualTo("False");
  }

  @Test
  void aCardThatDoesNotTellForAWhileIsNoNewsOfTheShareOnIt() {
    PreparedClaim prepared = new PreparedClaim(share.claim(), PreparedClaim.Phase.COMPLETED, "boot",
        List.of(Grants.share("a", 0, "one", 8, 25), Grants.share("b", 1, "two", 8, 25)), Map.of(), false);
    List<WatchedShare> both = WatchedShare.of(List.of(prepared));
    List<Map<String, DeviceNotes>> told = new ArrayList<>();
    UsageReports ofBoth = new UsageReports((claim, shares) -> told.add(shares), totals);
    for (int second = 0; second < 60; second++) {
      boolean silent = second == 10 || second == 20;
      Map<ShareRef, ShareUse> uses = new HashMap<>();
      Map<String, CardTime> times = new HashMap<>();
      List<ShareVerdict> verdicts = new ArrayList<>();
      for (WatchedShare one : both) {
        boolean works = one.equals(both.getFirst());
        ProcessUse process = new ProcessUse(new ProcessIdentity(1, 1), MIB, MIB, 0, 0, 0, true, works ? SECOND : 0);
        ShareUse use = new ShareUse(one, List.of(process), new ShareUse.LedgerTotals(0, 0, 0, 0),
            new CoreState.Unused(), Set.of(), HELD);
        uses.put(one.ref(), use);
        if (!silent || one.equals(both.getFirst())) {
          times.put(one.card(), new CardTime(SECOND, Map.of(), ""));
          verdicts.add(new ShareVerdict(use, HELD, new CoreUse.NotLimited()));
        }
      }
      totals.take(uses, times);
      ofBoth.tell(verdicts, Set.of(share.ref().uid()), START.plusSeconds(second));
      assertThat(told).as("second " + second).hasSize(1);
    }
  }

  /**
   * One look at the share.
   *
   * @param busy part of the card's time that its first process had of the second before; {@link #UNTOLD} if the card's
   *        samples are not followed
   * @param mib held by each of its processes
   */
  private void look(int second, MemoryState memory, double busy, int... mib) {
    List<ProcessUse> processes = new ArrayList<>();
    for (int i = 0; i < mib.length; i++) {
      long nanos = i == 0 && busy != UNTOLD ? Math.round(busy * SECOND) : 0;
      processes.add(
          new ProcessUse(new ProcessIdentity(i + 1, 1), mib[i] * MIB, mib[i] * MIB, 0, i == 0 ? OVERHEAD : 0, 0, true,
              nanos));
    }
    ShareUse use =
        new ShareUse(share, processes, new ShareUse.LedgerTotals(0, 0, 0, throttled), new CoreState.Unused(), Set.of(),
            memory);
    Map<String, CardTime> times =
        busy == UNTOLD ? Map.of() : Map.of(share.card(), new CardTime(SECOND, Map.of(), ""));
    totals.take(Map.of(share.ref(), use), times);
    reports.tell(List.of(new ShareVerdict(use, memory, new CoreUse.NotLimited())),
        Set.of(share.ref().uid()), START.plusSeconds(second));
  }

  private static WatchedShare share() {
    ClaimRef claim = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.share("a", 0, "key", 8, 25)),
            Map.of(), false);
    return WatchedShare.of(List.of(prepared)).getFirst();
  }
}
