package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReportQueueTest {
  private final long now = System.nanoTime();

  private final ReportQueue queue = new ReportQueue();

  @Test
  void ofAClaimsStatesOnlyTheNewestWaits() {
    for (int i = 0; i < 10_000; i++) {
      queue.add(state(1, String.valueOf(i)));
      queue.add(state(2, String.valueOf(i)));
    }
    assertThat(taken()).containsExactly(state(1, "9999"), state(2, "9999"));
    assertThat(queue.dropped()).isEmpty();
  }

  @Test
  void aStateThatSaysNothingOfUseDoesNotTakeThePlaceOfOneThatDoes() {
    queue.addUnlessWaiting(state(1, "first"));
    queue.addUnlessWaiting(state(1, "second"));
    queue.add(state(2, "use"));
    queue.addUnlessWaiting(state(2, "nothing"));
    assertThat(taken()).containsExactly(state(1, "first"), state(2, "use"));
  }

  @Test
  void whatIsSaidOfOneDeviceDoesNotTakeThePlaceOfWhatIsSaidOfAnother() {
    DeviceNotes card = new DeviceNotes(Map.of("memoryUsed", "1Gi"), List.of());
    DeviceNotes share = new DeviceNotes(Map.of("memoryUsed", "2Gi"), List.of());
    DeviceNotes later = new DeviceNotes(Map.of("memoryUsed", "3Gi"), List.of());
    queue.add(new ReportQueue.State(state(1, "boot").claim(), Map.of("gpu-0", card, "share", share)));
    queue.add(new ReportQueue.State(state(1, "boot").claim(), Map.of("share", later)));
    assertThat(taken()).containsExactly(
        new ReportQueue.State(state(1, "boot").claim(), Map.of("gpu-0", card, "share", later)));
  }

  @Test
  void anEventThatWaitsAlreadyIsNotAddedAgain() {
    for (int i = 0; i < 10_000; i++) {
      queue.add(event(1, EventReason.PrepareFailed, "no card", false));
    }
    assertThat(taken()).hasSize(1);
    assertThat(queue.dropped()).isEmpty();
  }

  @Test
  void aClaimWithManyEventsKeepsTheNewestAndThoseThatMustBeWritten() {
    queue.add(event(1, EventReason.LimitExceeded, "first", true));
    for (int i = 0; i < 100; i++) {
      queue.add(event(1, EventReason.PrepareFailed, String.valueOf(i), false));
    }
    List<ReportQueue.Report> taken = taken();
    assertThat(taken)
        .hasSize(ReportQueue.MOST_EVENTS)
        .startsWith(event(1, EventReason.LimitExceeded, "first", true))
        .endsWith(event(1, EventReason.PrepareFailed, "99", false));
    assertThat(queue.dropped())
        .hasValueSatisfying(dropped -> assertThat(dropped.count()).isEqualTo(101 - ReportQueue.MOST_EVENTS));
    assertThat(queue.dropped()).as("said once").isEmpty();
  }

  @Test
  void thereAreNoMoreClaimsThanItsBound() {
    for (int i = 0; i < ReportQueue.MOST_CLAIMS + 3; i++) {
      queue.add(event(i, EventReason.Released, "released", false));
    }
    assertThat(taken()).hasSize(ReportQueue.MOST_CLAIMS);
    assertThat(queue.dropped())
        .hasValueSatisfying(
            dropped -> {
              assertThat(dropped.count()).isEqualTo(3);
              assertThat(dropped.last().about()).isEqualTo(claim(ReportQueue.MOST_CLAIMS + 2));
            });
  }

  @Test
  void claimsTakeTurns() {
    for (int i = 0; i < 5; i++) {
      queue.add(event(1, EventReason.PrepareFailed, String.valueOf(i), false));
    }
    queue.add(state(2, "used"));
    assertThat(taken()).extracting(ReportQueue.Report::about).startsWith(claim(1), claim(2), claim(1));
  }

  @Test
  void whatIsToBeRepeatedOfACardsHealthGoesBeforeWhatIsNewer() {
    ReportQueue.Event failed = event(1, EventReason.GpuUnhealthy, "it fell off the bus", true).triedAgain();
    ReportQueue.Event healed = event(1, EventReason.GpuHealthy, "it is healthy again", true);
    ReportQueue.Event exceeded = event(1, EventReason.LimitExceeded, "held too much", true).triedAgain();
    queue.addLater(exceeded, now + 1_000);
    queue.addLater(failed, now + 1_000);
    queue.addLater(event(2, EventReason.GpuUnhealthy, "it fell off the bus", true), now + 1_000);
    queue.add(healed);
    assertThat(taken()).containsExactly(failed, healed);
    queue.addLater(healed.triedAgain(), now + 1_000);
    queue.add(event(1, EventReason.GpuUnhealthy, "once more", true));
    assertThat(taken()).containsExactly(healed.triedAgain(), event(1, EventReason.GpuUnhealthy, "once more", true));
  }

  @Test
  void whatIsToBeRepeatedComesWhenItIsDueAndIsBoundedAClaim() {
    ReportQueue.Event event = new ReportQueue.Event(claim(1), EventReason.LimitExceeded, "process 7", true, 1);
    for (int i = 0; i < ReportQueue.MOST_EVENTS; i++) {
      assertThat(queue.addLater(event, now + 10)).isTrue();
    }
    assertThat(queue.addLater(event, now + 10)).isFalse();
    assertThat(queue.take(now + 9)).isEmpty();
    assertThat(queue.nextDue()).hasValue(now + 10);
    assertThat(queue.take(now + 10)).contains(event);
  }

  private List<ReportQueue.Report> taken() {
    List<ReportQueue.Report> all = new ArrayList<>();
    for (Optional<ReportQueue.Report> next = queue.take(now); next.isPresent(); next = queue.take(now)) {
      all.add(next.get());
    }
    return all;
  }

  private static ReportQueue.State state(int claim, String boot) {
    return new ReportQueue.State(
        new PreparedClaim(claim(claim), PreparedClaim.Phase.COMPLETED, boot, List.of(), Map.of(), false), Map.of());
  }

  private static ReportQueue.Event event(int claim, EventReason reason, String note, boolean untilWritten) {
    return new ReportQueue.Event(claim(claim), reason, note, untilWritten, 0);
  }

  private static ClaimRef claim(int number) {
    return new ClaimRef("default", "claim-" + number, String.format("0b5e8a9e-0000-4000-8000-%012d", number));
  }
}
