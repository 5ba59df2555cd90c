package dev.partita.controller.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.junit.jupiter.api.Test;

class WaitingPodTest {
  @Test
  void aPodWhoseConditionSaysSoWaits() {
    assertThat(WaitingPod.of(waiting().build()))
        .contains(new WaitingPod("team", "pod", "2026-01-01T00:00:00Z", "Unallocatable", "no card fits"));
    assertThat(WaitingPod.of(waiting().editSpec().withNodeName("node-0").endSpec().build())).isEmpty();
    assertThat(WaitingPod.of(new PodBuilder(waiting().build()).editStatus().editFirstCondition().withStatus("True")
        .endCondition().endStatus().build())).isEmpty();
  }

  @Test
  void whatIsOverOrBeingDeletedDoesNotWaitThoughAFinalizerKeepsIt() {
    Pod deleted = waiting().editMetadata().withDeletionTimestamp("2026-01-02T00:00:00Z")
        .addToFinalizers("kueue.x-k8s.io/managed").endMetadata().build();
    assertThat(WaitingPod.of(deleted)).isEmpty();
    assertThat(WaitingPod.of(waiting().editStatus().withPhase("Failed").endStatus().build())).isEmpty();
  }

  private static PodBuilder waiting() {
    return new PodBuilder().withNewMetadata().withNamespace("team").withName("pod").endMetadata().withNewSpec()
        .endSpec().withNewStatus().withPhase("Pending").addNewCondition().withType(Driver.ALLOCATED_CONDITION)
        .withStatus("False").withReason("Unallocatable").withMessage("no card fits")
        .withLastTransitionTime("2026-01-01T00:00:00Z").endCondition().endStatus();
  }
}
