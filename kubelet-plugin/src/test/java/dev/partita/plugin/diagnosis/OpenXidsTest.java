package dev.partita.plugin.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.nvml.CardSigns.Recovery;
import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OpenXidsTest {
  private static final long SETTLED = OpenXids.SETTLES.toSeconds();

  private final OpenXids xids = new OpenXids();

  @Test
  void anErrorIsOverOnceTheDriverHasAskedForSomethingAndAsksForNothingAnyMore() {
    raised(0, 95);
    assertThat(at(1, Recovery.NONE)).as("the driver has not yet said what it asks for").contains(95L);
    assertThat(at(2, Recovery.RESET)).contains(95L);
    assertThat(at(9_000, Recovery.RESET)).contains(95L);
    assertThat(at(9_010, Recovery.NONE)).isEmpty();
    assertThat(at(9_020, Recovery.RESET)).as("which is no matter of this error").isEmpty();
  }

  @Test
  void anErrorWhoseResetFallsBetweenTwoReadingsIsOverOnceTheDriverHadTheTimeToAskForSomething() {
    raised(0, 95);
    assertThat(at(10, Recovery.NONE)).contains(95L);
    assertThat(at(SETTLED - 1, Recovery.NONE)).contains(95L);
    assertThat(at(SETTLED, Recovery.NONE)).isEmpty();
  }

  @Test
  void anErrorThatComesAgainIsWaitedForAnew() {
    raised(0, 119);
    raised(SETTLED - 1, 119);
    assertThat(at(SETTLED, Recovery.NONE)).contains(119L);
    assertThat(at(2 * SETTLED - 2, Recovery.NONE)).contains(119L);
    assertThat(at(2 * SETTLED - 1, Recovery.NONE)).isEmpty();
  }

  @Test
  void whatTheDriverAskedForBeforeAnotherErrorCountsForBoth() {
    raised(0, 95);
    assertThat(at(1, Recovery.RESET)).contains(95L);
    raised(2, 119);
    assertThat(at(3, Recovery.NONE)).as("a reset mends both").isEmpty();
  }

  @Test
  void aDriverThatDoesNotTellEndsNoErrorBeforeTheCardHasGoneAndComeBack() {
    raised(0, 95);
    assertThat(at(100 * SETTLED, Recovery.NOT_TOLD)).contains(95L);
    assertThat(xids.ofAbsent("a")).isPresent();
    assertThat(at(100 * SETTLED + 1, Recovery.NOT_TOLD)).isEmpty();
  }

  @Test
  void aCardThatHasComeBackAndIsStillToBeResetHasNoErrorAnyMoreButThat() {
    raised(0, 95);
    xids.allGone();
    assertThat(at(1, Recovery.RESET)).isEmpty();
  }

  @Test
  void anErrorOfThePluginBeforeGoesOnForAsLongAsTheDriverAsksForSomething() {
    xids.remember(new XidEvent("a", 95));
    assertThat(at(1, Recovery.RESET)).contains(95L);
    assertThat(at(100 * SETTLED, Recovery.RESET)).contains(95L);
    assertThat(at(100 * SETTLED + 1, Recovery.NONE)).isEmpty();
  }

  @Test
  void anErrorOfThePluginBeforeIsOverIfTheDriverAsksForNothing() {
    for (Recovery recovery : new Recovery[]{Recovery.NONE, Recovery.NOT_TOLD}) {
      xids.remember(new XidEvent("a", 95));
      assertThat(at(1, recovery)).as("%s", recovery).isEmpty();
      assertThat(at(2, Recovery.RESET)).as("which is no matter of this error").isEmpty();
    }
  }

  @Test
  void anErrorOfThePluginBeforeGivesWayToANewOneAndEndsWithTheDriver() {
    xids.remember(new XidEvent("a", 95));
    raised(0, 119);
    assertThat(at(1, Recovery.RESET)).contains(119L);

    xids.remember(new XidEvent("b", 95));
    xids.allGone();
    assertThat(xids.ofPresent("b", Recovery.RESET, 0)).isEmpty();
  }

  @Test
  void anErrorOfOneCardIsNoneOfAnother() {
    raised(0, 95);
    assertThat(xids.ofPresent("b", Recovery.RESET, 0)).isEmpty();
    assertThat(xids.ofAbsent("b")).isEmpty();
    assertThat(at(1, Recovery.RESET)).contains(95L);
  }

  private void raised(long second, long xid) {
    xids.add(new XidEvent("a", xid), false, nanos(second));
  }

  private Optional<Long> at(long second, Recovery recovery) {
    return xids.ofPresent("a", recovery, nanos(second)).map(XidEvent::xid);
  }

  private static long nanos(long second) {
    return Duration.ofSeconds(second).toNanos();
  }
}
