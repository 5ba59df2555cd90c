package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CoreAccountTest {
  private static final long SECOND = 1_000_000_000;
  private static final Instant START = Instant.parse("2026-11-23T08:00:00Z");

  private final Map<ShareRef, CoreAccount> accounts = new HashMap<>();
  private final WatchedShare quarter = share("quarter", 25, CoreLimit.HARD);
  private final WatchedShare other = share("other", 25, CoreLimit.HARD);
  private Instant timeOfDay = START;
  private Instant now = START;

  @Test
  void whoKeepsToTheLimitIsSaidToOnceThatHasBeenSeenForAWhile() {
    List<CoreUse> states = seconds(300, 25);
    assertThat(states.subList(0, 19)).containsOnly(new CoreUse.Watched());
    assertThat(states.subList(20, 300)).containsOnly(new CoreUse.Within(25));
  }

  @Test
  void whoHasMoreIsFoundInHalfAMinuteAndSaidToKeepToItAgainWhenThatIsMadeUpFor() {
    List<CoreUse> cheats = seconds(60, 60);
    int found = (int) cheats.stream().filter(state -> !(state instanceof CoreUse.Exceeded)).count();
    assertThat(found).isBetween(15, 30);
    assertThat(cheats.subList(found, 60)).allSatisfy(state -> assertThat(state)
        .isEqualTo(new CoreUse.Exceeded(60, 25, START, List.of(new CoreUse.User(1, 60, false)))));

    List<CoreUse> idle = seconds(60, 0);
    int over = (int) idle.stream().filter(state -> state instanceof CoreUse.Exceeded).count();
    assertThat(over).isBetween(15, 30);
    assertThat(idle.subList(over, 60)).containsOnly(new CoreUse.Within(25));
  }

  @Test
  void whoHasALittleMoreIsHeldForErrorsOfMeasurement() {
    assertThat(seconds(3600, 30)).noneMatch(state -> state instanceof CoreUse.Exceeded);
  }

  @Test
  void longKernelsThatArePaidForAreHeldAgainstNobody() {
    for (int i = 0; i < 50; i++) {
      assertThat(seconds(7, 100)).noneMatch(state -> state instanceof CoreUse.Exceeded);
      assertThat(seconds(21, 0)).noneMatch(state -> state instanceof CoreUse.Exceeded);
    }
  }

  @Test
  void aPauseDoesNotMakeAnybodyHonest() {
    seconds(20, 100);
    for (int i = 0; i < 20; i++) {
      assertThat(seconds(5, 0)).hasOnlyElementsOfType(CoreUse.Exceeded.class);
      assertThat(seconds(15, 100)).hasOnlyElementsOfType(CoreUse.Exceeded.class);
    }
  }

  @Test
  void noLimitIsExceededByProcessesThatAreNotTheShares() {
    for (int i = 0; i < 60; i++) {
      Map<ShareRef, CoreUse> states = next(use(quarter, 25), use(other, 75));
      assertThat(of(states, quarter)).isNotInstanceOf(CoreUse.Exceeded.class);
    }
    assertThat(of(next(use(quarter, 25), use(other, 75)), other)).isInstanceOf(CoreUse.Exceeded.class);
  }

  @Test
  void sharesOfOneContainerAreOneLimit() {
    for (int i = 0; i < 60; i++) {
      assertThat(next(together(48)).values()).noneMatch(state -> state instanceof CoreUse.Exceeded);
    }
    Map<ShareRef, CoreUse> states = Map.of();
    for (int i = 0; i < 60; i++) {
      states = next(together(90));
    }
    assertThat(of(states, quarter)).isInstanceOfSatisfying(CoreUse.Exceeded.class,
        exceeded -> assertThat(exceeded.limit()).isEqualTo(50));
    assertThat(of(states, other)).as("it is charged for nothing").isEqualTo(new CoreUse.Within(50));
  }

  @Test
  void aShareWithoutALimitInTheSameContainerLiftsIt() {
    WatchedShare free = share("free", 10, CoreLimit.NONE);
    for (int i = 0; i < 60; i++) {
      Map<ShareRef, CoreUse> states =
          next(use(quarter, Set.of(free.ref()), process(1, 100)), use(free, Set.of(quarter.ref())));
      assertThat(states.values()).containsOnly(new CoreUse.NotLimited());
    }
  }

  @Test
  void ofSharesWithoutAHardLimitNothingIsSaid() {
    for (WatchedShare share : List.of(share("soft", 25, CoreLimit.SOFT), share("none", 25, CoreLimit.NONE),
        share("all", 100, CoreLimit.HARD), share("memory", 0, CoreLimit.HARD))) {
      for (int i = 0; i < 60; i++) {
        assertThat(of(next(use(share, 100)), share)).isEqualTo(new CoreUse.NotLimited());
      }
    }
  }

  @Test
  void whatAShareHadBeforeItsLimitWasLiftedIsNotHeldAgainstItUnderTheNextOne() {
    assertThat(seconds(60, 60)).last().isInstanceOf(CoreUse.Exceeded.class);
    WatchedShare lifted = share("quarter", 0, CoreLimit.HARD);
    assertThat(of(next(use(lifted, 100)), lifted)).isEqualTo(new CoreUse.NotLimited());
    WatchedShare half = share("quarter", 50, CoreLimit.HARD);
    assertThat(of(next(use(half, 40)), half)).isEqualTo(new CoreUse.Watched());
  }

  @Test
  void wholePercentsOfManyProcessesAreNotAddedUpAgainstThem() {
    ProcessUse[] workers = IntStream.rangeClosed(1, 40).mapToObj(pid -> process(pid, 1)).toArray(ProcessUse[]::new);
    for (int i = 0; i < 300; i++) {
      assertThat(of(next(use(quarter, Set.of(), workers)), quarter)).isNotInstanceOf(CoreUse.Exceeded.class);
    }
  }

  @Test
  void whatNvmlDoesNotTellIsUnknownAndNotWithin() {
    CardTime silent = new CardTime(0, Map.of(), "no samples here");
    List<CoreUse> states = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      states.add(of(next(silent, true, use(quarter, 0)), quarter));
    }
    assertThat(states.getFirst()).isEqualTo(new CoreUse.Watched());
    assertThat(states.getLast()).isEqualTo(new CoreUse.Untold("no samples here"));
  }

  @Test
  void aShortSilenceChangesNothing() {
    seconds(60, 60);
    CardTime silent = new CardTime(0, Map.of(), "no samples here");
    for (int i = 0; i < 8; i++) {
      assertThat(of(next(silent, true, use(quarter, 0)), quarter)).isInstanceOf(CoreUse.Exceeded.class);
    }
    assertThat(seconds(10, 60)).hasOnlyElementsOfType(CoreUse.Exceeded.class);
  }

  @Test
  void whereSamplesMayHaveOtherPidsOnlyAShareThatWasSeenAtWorkIsJudged() {
    CardTime second = new CardTime(SECOND, Map.of(), "");
    for (int i = 0; i < 60; i++) {
      assertThat(of(next(second, false, use(quarter, 0)), quarter)).isInstanceOf(CoreUse.Untold.class);
    }
    assertThat(of(next(second, false, use(quarter, 10)), quarter)).isEqualTo(new CoreUse.Within(25));
  }

  @Test
  void theWordsSayHowMuchOfWhatSinceWhenAndWho() {
    ShareUse use = use(quarter, Set.of(), process(4711, 60),
        new ProcessUse(new ProcessIdentity(4712, 1), 0, 0, 0, 0, 0, true, SECOND / 50));
    CoreUse state = new CoreUse.Watched();
    for (int i = 0; i < 60; i++) {
      state = of(next(use), quarter);
    }
    assertThat(UsageWords.message(use, (CoreUse.Exceeded) state))
        .startsWith(
            "its processes had 62 % of the time of GPU-1 since 2026-11-23T08:00:00Z, where the claim has 25 % at most: process 4711 (pid on the node) 60 % and in no ledger, process 4712 (pid on the node) 2 %. ");
  }

  @Test
  void theWordsNameAFewProcessesOfMany() {
    List<CoreUse.User> users = IntStream.rangeClosed(1, 500).mapToObj(pid -> new CoreUse.User(pid, 1, false)).toList();
    assertThat(UsageWords.message(use(quarter, 0), new CoreUse.Exceeded(100, 25, START, users)))
        .contains("process 5 (pid on the node) 1 % and in no ledger and 495 more").hasSizeLessThan(1024);
    assertThat(UsageWords.message(use(quarter, 0), new CoreUse.Exceeded(100, 25, START, List.of())))
        .contains("at most: they have ended. ");
  }

  private ShareUse[] together(int percent) {
    return new ShareUse[]{use(quarter, Set.of(other.ref()), process(1, percent)), use(other, Set.of(quarter.ref()))};
  }

  /** The states after each of so many seconds in which one process of a share has so much of the card. */
  private List<CoreUse> seconds(int count, int percent) {
    List<CoreUse> states = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      states.add(of(next(use(quarter, percent)), quarter));
    }
    return states;
  }

  private Map<ShareRef, CoreUse> next(ShareUse... uses) {
    return next(new CardTime(SECOND, Map.of(), ""), true, uses);
  }

  @Test
  void whetherNvmlIsSilentIsToldByAClockThatNobodySets() {
    CardTime silent = new CardTime(0, Map.of(), "no samples here");
    seconds(30, 25);
    timeOfDay = timeOfDay.plusSeconds(3600);
    assertThat(of(next(silent, true, use(quarter, 0)), quarter)).as("set forward").isEqualTo(new CoreUse.Within(25));
    seconds(1, 25);
    timeOfDay = timeOfDay.minusSeconds(3600);
    List<CoreUse> states =
        IntStream.range(0, 12).mapToObj(i -> of(next(silent, true, use(quarter, 0)), quarter)).toList();
    assertThat(states.getLast()).as("set back").isEqualTo(new CoreUse.Untold("no samples here"));
  }

  private Map<ShareRef, CoreUse> next(CardTime time, boolean allSeen, ShareUse... uses) {
    timeOfDay = timeOfDay.plusSeconds(1);
    now = now.plusSeconds(1);
    Map<ShareRef, ShareUse> byRef = new HashMap<>();
    Arrays.stream(uses).forEach(use -> byRef.put(use.share().ref(), use));
    Map<ShareRef, CoreUse> states = new HashMap<>();
    byRef.forEach(
        (ref, use) -> states.put(
            ref,
            accounts.computeIfAbsent(ref, r -> new CoreAccount()).take(use, byRef,
                new CoreAccount.Look(time, allSeen, timeOfDay, now))));
    return states;
  }

  private static CoreUse of(Map<ShareRef, CoreUse> states, WatchedShare share) {
    return Objects.requireNonNull(states.get(share.ref()));
  }

  private static ShareUse use(WatchedShare share, int percent) {
    return use(share, Set.of(), process(1, percent));
  }

  static ShareUse use(WatchedShare share, Set<ShareRef> beside, ProcessUse... processes) {
    return new ShareUse(share, List.of(processes), ShareUse.LedgerTotals.NONE, new CoreState.Unused(), beside,
        new MemoryState.Held());
  }

  /** One that no ledger knows of, with so much of a second. */
  private static ProcessUse process(long pid, int percent) {
    return process(pid, percent * (SECOND / 100));
  }

  static ProcessUse process(long pid, long gpuNanos) {
    return new ProcessUse(new ProcessIdentity(pid, 1), 1 << 20, 0, 0, 0, 0, false, gpuNanos);
  }

  static WatchedShare share(String key, int cores, CoreLimit limit) {
    CardIdentity card = new CardIdentity(0, 0, "GPU-1", "NVIDIA H200", 140L << 30, Optional.empty());
    Grant grant =
        new Grant(List.of("gpu"), "gpu-0-shared", Optional.of(key), card,
            new HookedShare(new Share(8L << 30, cores, limit, 1)));
    ClaimRef claim = new ClaimRef("default", "claim-" + key, "uid-" + key);
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false);
    return WatchedShare.of(List.of(prepared)).getFirst();
  }
}
