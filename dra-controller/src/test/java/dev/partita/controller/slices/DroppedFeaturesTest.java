package dev.partita.controller.slices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.HeldClock;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpecBuilder;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DroppedFeaturesTest {
  private static final ResourceSliceSpec WITH = new ResourceSliceSpecBuilder().addNewDevice().withName("gpu-0")
      .withBindingConditions("InstanceMade").endDevice().build();
  private static final ResourceSliceSpec WITHOUT =
      new ResourceSliceSpecBuilder().addNewDevice().withName("gpu-0").endDevice().build();

  private final HeldClock clock = new HeldClock(Instant.EPOCH);
  private final DroppedFeatures dropped = new DroppedFeatures(clock);

  @Test
  void whatTheApiServerDropsIsTriedAgainAfterAWhileAndStaysWhereItKeepsIt() {
    assertThat(dropped.notDropped()).containsExactlyInAnyOrder(SliceFeature.values());
    dropped.compare(WITH, WITHOUT);
    assertThat(dropped.notDropped()).doesNotContain(SliceFeature.BINDING_CONDITIONS)
        .contains(SliceFeature.COMPATIBILITY_GROUPS);
    dropped.compare(WITHOUT, WITHOUT); // which says nothing of what it would do with the rest
    clock.advance(DroppedFeatures.PAUSE.minusSeconds(1));
    assertThat(dropped.notDropped()).doesNotContain(SliceFeature.BINDING_CONDITIONS);
    clock.advance(Duration.ofSeconds(1));
    assertThat(dropped.notDropped()).contains(SliceFeature.BINDING_CONDITIONS);
    dropped.compare(WITH, WITHOUT);
    assertThat(dropped.notDropped()).as("for an hour more").doesNotContain(SliceFeature.BINDING_CONDITIONS);
    clock.advance(DroppedFeatures.PAUSE);
    dropped.compare(WITH, WITH);
    assertThat(dropped.notDropped()).contains(SliceFeature.BINDING_CONDITIONS);
  }
}
