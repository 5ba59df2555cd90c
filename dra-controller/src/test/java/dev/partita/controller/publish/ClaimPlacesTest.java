package dev.partita.controller.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ClaimPlacesTest {
  @Test
  void whereAClaimGoesBothNodesHaveChanged() {
    ClaimPlaces<String> nodes = new ClaimPlaces<>();
    assertThat(nodes.changed("a", () -> Set.of("node-0"))).containsExactly("node-0");
    assertThat(nodes.changed("a", () -> Set.of("node-0"))).isEmpty();
    assertThat(nodes.changed("a", () -> Set.of("node-1"))).containsExactlyInAnyOrder("node-0", "node-1");
    assertThat(nodes.changed("a", () -> Set.of("node-1", "node-2"))).containsExactly("node-2");
    assertThat(nodes.changed("a", () -> Set.of())).containsExactlyInAnyOrder("node-1", "node-2");
    assertThat(nodes.changed("a", () -> Set.of())).isEmpty();
  }

  @Test
  void whoTakesNoteOfAClaimLaterNotesWhatItHasThen() throws Exception {
    ClaimPlaces<String> nodes = new ClaimPlaces<>();
    CompletableFuture<Boolean> read = new CompletableFuture<>();
    CompletableFuture<Boolean> goOn = new CompletableFuture<>();
    Thread earlier = Thread.ofPlatform().start(() -> nodes.changed("a", () -> {
      read.complete(true);
      goOn.join();
      return Set.of("node-0");
    }));
    read.join();
    Thread later = Thread.ofPlatform().start(() -> nodes.changed("a", Set::of));
    Awaitility.await().until(() -> later.getState() != Thread.State.RUNNABLE && later.getState() != Thread.State.NEW);
    goOn.complete(true);
    earlier.join();
    later.join();
    assertThat(nodes.changed("a", Set::of)).isEmpty();
  }
}
