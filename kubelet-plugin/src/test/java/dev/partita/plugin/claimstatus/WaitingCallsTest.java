package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WaitingCallsTest {
  private final AtomicInteger ended = new AtomicInteger();

  @Test
  void nobodyGivesWayWhereNoCallWaits() {
    assertThat(new WaitingCalls(Duration.ofHours(1)).patience()).isZero();
  }

  @Test
  void callsThatOverlapAreGivenWayToUntilTheLastOneIsAnswered() {
    WaitingCalls calls = new WaitingCalls(Duration.ofHours(1));
    WaitingCalls.Call first = calls.begin(ended::incrementAndGet);
    WaitingCalls.Call second = calls.begin(ended::incrementAndGet);
    first.close();
    assertThat(calls.patience()).isPositive();
    assertThat(ended).hasValue(0);
    second.close();
    assertThat(calls.patience()).isZero();
    assertThat(ended).hasValue(1);
  }

  @Test
  void aCallThatTakesLongIsNoLongerGivenWayTo() {
    WaitingCalls calls = new WaitingCalls(Duration.ZERO);
    try (WaitingCalls.Call _ = calls.begin(ended::incrementAndGet)) {
      assertThat(calls.patience()).isLessThanOrEqualTo(Duration.ZERO);
      calls.begin(ended::incrementAndGet).close(); // another one does not make it longer
      assertThat(calls.patience()).isLessThanOrEqualTo(Duration.ZERO);
    }
  }
}
