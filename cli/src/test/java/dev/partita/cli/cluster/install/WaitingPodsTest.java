package dev.partita.cli.cluster.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingPodsTest {
  @Test
  void anImageThatCannotBePulledIsNamedOnceHoweverManyPodsWaitForIt() {
    Pod plugin =
        new PodBuilder()
            .withNewStatus()
            .withInitContainerStatuses(waiting("simulator:v1", "ErrImagePull"))
            .withContainerStatuses(waiting("kubelet-plugin:v1", "PodInitializing"))
            .endStatus()
            .build();
    assertThat(WaitingPods.reasons(List.of(plugin, plugin))).isEqualTo("ErrImagePull of simulator:v1");
  }

  @Test
  void podsThatRunOrWereNotStartedYetAreNoReason() {
    Pod running =
        new PodBuilder()
            .withNewStatus()
            .withContainerStatuses(
                new ContainerStatusBuilder().withNewState().withNewRunning("2026-01-01T00:00:00Z").endState().build())
            .endStatus()
            .build();
    assertThat(WaitingPods.reasons(List.of(running, new Pod()))).isEmpty();
  }

  private static ContainerStatus waiting(String image, String reason) {
    return new ContainerStatusBuilder().withImage(image).withNewState().withNewWaiting(null, reason).endState().build();
  }
}
