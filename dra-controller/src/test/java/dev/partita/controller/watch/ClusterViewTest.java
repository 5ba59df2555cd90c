package dev.partita.controller.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterViewTest {
  @Test
  void anObjectThatWentAndWasMadeAnewWhileNobodyWatchedIsToldOfAsGone() {
    List<String> told = new ArrayList<>();
    var handler = ClusterView.<Pod>telling(pod -> told.add(pod.getMetadata().getUid()));
    handler.onUpdate(pod("a"), pod("a"));
    assertThat(told).containsExactly("a");
    handler.onUpdate(pod("a"), pod("b"));
    assertThat(told).containsExactly("a", "a", "b");
  }

  private static Pod pod(String uid) {
    return new PodBuilder().withNewMetadata().withName("p").withUid(uid).endMetadata().build();
  }
}
