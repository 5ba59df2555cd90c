package dev.partita.controller.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

class GangTest {
  private static final ObjectKey GANG = new ObjectKey("default", "train");

  @Test
  void aGangWaitsUntilAllAreThere() {
    assertThat(Gang.state(GANG, List.of(pod("a", "3"), pod("b", "3"))))
        .isEqualTo(new Gang.State.Waits("gang train: 2 of 3 pods are there"));
    assertThat(Gang.state(GANG, List.of(pod("a", "3"), pod("b", "3"), pod("c", "3"))))
        .isEqualTo(new Gang.State.Complete(3));
    assertThat(Gang.state(GANG, List.of(pod("a", "1")))).isEqualTo(new Gang.State.Complete(1));
  }

  @Test
  void aSizeThatIsNoneIsSaid() {
    assertThat(Gang.state(GANG, List.of(pod("a", "many"))))
        .isEqualTo(new Gang.State.Waits(
            "gang train: annotation gpu.partita.dev/gang-size must be a whole number from 1 to 10000, not many"));
    assertThat(Gang.state(GANG, List.of(pod("a", " "))))
        .isEqualTo(new Gang.State.Waits(
            "gang train: annotation gpu.partita.dev/gang-size must be a whole number from 1 to 10000; there is none"));
    assertThat(Gang.state(GANG, List.of(pod("a", "3"), pod("b", "4"))))
        .isEqualTo(new Gang.State.Waits("gang train: its pods disagree about gpu.partita.dev/gang-size: 3, 4"));
  }

  @Test
  void aPodThatHasFailedOrIsOnItsWayOutIsNotThereAndOneThatIsDoneIs() {
    assertThat(Gang.isThere(new PodBuilder(pod("a", "1")).withNewStatus().withPhase("Failed").endStatus().build()))
        .isFalse();
    assertThat(Gang.isThere(new PodBuilder(pod("a", "1")).withNewStatus().withPhase("Succeeded").endStatus().build()))
        .isTrue();
    assertThat(Gang.isThere(new PodBuilder(pod("a", "1")).editMetadata().withDeletionTimestamp("2026-01-01T00:00:00Z")
        .endMetadata().build())).isFalse();
  }

  private static Pod pod(String name, String size) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .addToAnnotations("gpu.partita.dev/gang", "train")
        .addToAnnotations("gpu.partita.dev/gang-size", size)
        .endMetadata()
        .build();
  }
}
