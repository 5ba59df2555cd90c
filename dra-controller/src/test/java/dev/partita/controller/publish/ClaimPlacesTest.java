package dev.partita.controller.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class ClaimPlacesTest {
  @Test
  void whereAClaimGoesBothNodesHaveChanged() {
    ClaimPlaces<String> nodes = new ClaimPlaces<>();
    assertThat(nodes.changed("a", Set.of("node-0"))).containsExactly("node-0");
    assertThat(nodes.changed("a", Set.of("node-0"))).isEmpty();
    assertThat(nodes.changed("a", Set.of("node-1"))).containsExactlyInAnyOrder("node-0", "node-1");
    assertThat(nodes.changed("a", Set.of("node-1", "node-2"))).containsExactly("node-2");
    assertThat(nodes.changed("a", Set.of())).containsExactlyInAnyOrder("node-1", "node-2");
    assertThat(nodes.changed("a", Set.of())).isEmpty();
  }
}
