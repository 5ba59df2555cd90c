package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.TestClaims;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class InstanceStatusesTest {
  private static final String POOL = "node-a/gpu";
  private static final Instant FIRST = Instant.parse("2026-01-01T10:00:00Z");
  private static final Instant LATER = FIRST.plusSeconds(60);
  private static final DeviceNotes.Note MADE = DeviceNotes.Note.holds(DeviceCondition.InstanceMade,
      DeviceCondition.Reason.Made, "the MIG instance is there");
  private static final DeviceNotes.Note FAILED = DeviceNotes.Note.holds(DeviceCondition.InstanceFailed,
      DeviceCondition.Reason.CannotBeMade, "no");

  private final ResourceClaim claim = claim();

  @Test
  void whatIsSaidAgainHasBeenSoSinceItWasSaidFirst() {
    tell(MADE, FIRST);
    assertThat(tell(MADE, LATER).getLastTransitionTime()).isEqualTo(FIRST.toString());
  }

  @Test
  void whatIsOtherwiseIsSoFromThenOn() {
    tell(MADE, FIRST);
    assertThat(tell(FAILED, LATER).getLastTransitionTime()).isEqualTo(LATER.toString());
  }

  private Condition tell(DeviceNotes.Note note, Instant now) {
    claim.getStatus().setDevices(InstanceStatuses.with(claim, POOL, note, now));
    List<Condition> conditions = claim.getStatus().getDevices().getFirst().getConditions();
    assertThat(conditions).hasSize(1);
    return conditions.getFirst();
  }

  private static ResourceClaim claim() {
    DeviceRequestAllocationResult result = TestClaims.instance("node-a", "r", 0, "1g-18gb-6");
    result.setBindingConditions(List.of("InstanceMade"));
    return TestClaims.claim("c", result);
  }
}
