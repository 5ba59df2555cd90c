package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.instanceShare;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.cardhealth.CardHealthWatch;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.loop.Loops;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims with shares of a MIG instance that somebody else made hear how it is. */
class InstanceHealthTest extends OnNodeOfPlugins {
  private static final Duration SOON = Duration.ofSeconds(20);

  @Test
  void onlyTheSharesOfAnInstanceThatIsGoneAreToldSoAndOnce() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    node.cards.instances.put(5, node.cards.staticAt(5, 4));
    ResourceClaim gone = node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "20Gi"));
    ResourceClaim there = node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4", "20Gi"));
    ResourceClaim other = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 1));
    node.runParts(real -> real, parts -> {
      for (ResourceClaim claim : List.of(gone, there, other)) {
        assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
      }
      try (Loops loops = new Loops()) {
        new CardHealthWatch(parts.inventory(), parts.checkpoint(), parts.reports()).start(loops);
        node.cards.instances.remove(9);
        parts.inventory().refresh();
        await().atMost(SOON).until(() -> reasons(gone).contains("GpuUnhealthy"));
        node.cards.present = List.of("GPU-0", "GPU-2"); // another look, for another card's sake
        parts.inventory().refresh();
        await().atMost(SOON).until(() -> reasons(other).contains("GpuUnhealthy"));
      }
      return true;
    });
    assertThat(reasons(there)).containsExactly("Prepared");
    assertThat(events(gone)).filteredOn(event -> event.getReason().equals("GpuUnhealthy")).singleElement()
        .satisfies(event -> assertThat(event.getSeries()).as("said again").isNull());
  }

  private List<String> reasons(ResourceClaim claim) {
    return events(claim).stream().map(Event::getReason).toList();
  }

  private List<Event> events(ResourceClaim claim) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> claim.getMetadata().getName().equals(event.getRegarding().getName())).toList();
  }
}
