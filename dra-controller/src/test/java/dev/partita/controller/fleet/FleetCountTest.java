package dev.partita.controller.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A fleet that is counted again. */
class FleetCountTest {
  private final List<GpuNode> nodes = List.of(PaperFleet.node("a", 2), PaperFleet.node("b", 2));
  private final Inventory inventory = Inventory.EMPTY.refreshed(nodes);

  @Test
  void onlyClaimsThatHaveChangedAreReadAgain() {
    ResourceClaim same = PaperFleet.share("team", "same", "a", 0, 8, 25);
    ResourceClaim changed = PaperFleet.share("team", "changed", "b", 1, 8, 25);
    FleetCount before = count(FleetCount.NONE, List.of(same, changed));
    FleetCount after = count(before, List.of(same, PaperFleet.used(changed, 5, 6, 7)));
    assertThat(device(after, 0, 0)).isSameAs(device(before, 0, 0));
    assertThat(device(before, 1, 1).measured().memoryUsed()).isEmpty();
    assertThat(device(after, 1, 1).measured().memoryUsed()).hasValue(5 * PaperFleet.GIB);
  }

  @Test
  void aClaimThatIsGoneTakesNothingAnyMore() {
    ResourceClaim claim = PaperFleet.share("team", "gone", "a", 0, 8, 25);
    FleetCount after = count(count(FleetCount.NONE, List.of(claim)), List.of());
    assertThat(after.fleet().nodes().getFirst().cards().getFirst().memoryAllocated()).isZero();
  }

  @Test
  void whateverChangesItIsTheCountFromNothing() {
    Random random = new Random(7);
    List<ResourceClaim> claims = new ArrayList<>();
    FleetCount count = FleetCount.NONE;
    for (int step = 0; step < 60; step++) {
      if (claims.isEmpty() || random.nextInt(3) > 0) {
        claims.add(PaperFleet.share("team", "claim-" + step, random.nextBoolean() ? "a" : "b", random.nextInt(2),
            1 + random.nextInt(8), random.nextInt(20)));
      } else if (random.nextBoolean()) {
        claims.remove(random.nextInt(claims.size()));
      } else {
        int at = random.nextInt(claims.size());
        claims.set(at, PaperFleet.used(claims.get(at), random.nextInt(8), 8, random.nextInt(20)));
      }
      count = count(count, claims);
      assertThat(count.fleet()).as("step %s", step).isEqualTo(count(FleetCount.NONE, claims).fleet());
    }
  }

  private FleetCount count(FleetCount earlier, List<ResourceClaim> claims) {
    return earlier.refreshed(inventory, nodes, claims);
  }

  private static ClaimDevice device(FleetCount count, int node, int card) {
    return count.fleet().nodes().get(node).cards().get(card).devices().getFirst();
  }
}
