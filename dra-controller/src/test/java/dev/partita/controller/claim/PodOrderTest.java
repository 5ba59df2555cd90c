package dev.partita.controller.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PodOrderTest {
  @Test
  void podsOfHigherPriorityHaveTheirTurnFirstThenOlderOnesAndThenByName() {
    List<Pod> inOrder =
        List.of(
            pod("new-and-urgent", 10, "2026-01-03T00:00:00Z"),
            pod("old", 1, "2026-01-01T00:00:00Z"),
            pod("a", 1, "2026-01-02T00:00:00Z"),
            pod("b", 1, "2026-01-02T00:00:00Z"),
            new PodBuilder(pod("of-no-priority", 0, "2026-01-01T00:00:00Z")).editSpec().withPriority(null).endSpec()
                .build(),
            pod("older-and-less-than-none", -5, "2025-01-01T00:00:00Z"));
    List<Pod> shuffled = new ArrayList<>(inOrder);
    Collections.shuffle(shuffled, new Random(7));
    shuffled.sort(PodOrder.MOST_URGENT_FIRST);
    assertThat(shuffled).extracting(pod -> pod.getMetadata().getName())
        .isEqualTo(inOrder.stream().map(pod -> pod.getMetadata().getName()).toList());
  }

  private static Pod pod(String name, int priority, String created) {
    return new PodBuilder()
        .withNewMetadata().withName(name).withNamespace("default").withCreationTimestamp(created).endMetadata()
        .withNewSpec().withPriority(priority).endSpec()
        .build();
  }
}
