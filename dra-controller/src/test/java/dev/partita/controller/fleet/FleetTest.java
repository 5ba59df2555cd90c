package dev.partita.controller.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.node.OtherDriverDevice;
import dev.partita.controller.GpuNodes;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class FleetTest {
  private static final long GIB = PaperFleet.GIB;

  private static CardState card(Fleet fleet, int index) {
    return fleet.nodes().getFirst().cards().get(index);
  }

  private static Fleet fleet(GpuNode node, ResourceClaim... claims) {
    return Fleet.of(List.of(node), List.of(claims));
  }

  @Test
  void aCardIsAllocatedByWhatClaimsHaveOfIt() {
    Fleet fleet =
        fleet(PaperFleet.node("n", 2), PaperFleet.share("team", "a", "n", 0, 8, 25),
            PaperFleet.share("team", "b", "n", 0, 16, 0));
    assertThat(card(fleet, 0).memoryAllocated()).isEqualTo(24 * GIB);
    assertThat(card(fleet, 0).memoryFree()).isEqualTo(116 * GIB);
    assertThat(card(fleet, 0).coresAllocated()).isEqualTo(25);
    assertThat(card(fleet, 0).memoryUsed()).as("nobody said").isEmpty();
    assertThat(card(fleet, 1).memoryFree()).isEqualTo(140 * GIB);
  }

  @Test
  void aCardThatIsTakenAsAWholeIsAllocatedAltogether() {
    CardState card = card(fleet(PaperFleet.node("n", 1), PaperFleet.whole("team", "w", "n", 0)), 0);
    assertThat(card.memoryAllocated()).isEqualTo(140 * GIB);
    assertThat(card.memoryFree()).isZero();
    assertThat(card.coresAllocated()).isEqualTo(100);
  }

  /** As quotas count it. */
  @Test
  void aMigInstanceHasItsPartOfTheCardsTime() {
    GpuNode node = GpuNodes.ready("n", GpuNodeSpec.DEFAULT, GpuNodes.migCards("n", 1));
    CardState card = card(fleet(node, PaperFleet.instance("team", "a", "n", 0, "3g-71gb-0")), 0);
    assertThat(card.memoryAllocated()).isEqualTo(69 * GIB);
    assertThat(card.coresAllocated()).isEqualTo(card.coresOf(card.devices().getFirst())).isBetween(42, 43);
    assertThat(Totals.of(fleet(node, PaperFleet.instance("team", "a", "n", 0, "3g-71gb-0"))).coresAllocated())
        .isEqualTo(card.coresAllocated());
  }

  @Test
  void ofACardThatSomebodyElseHasCutTheInstancesAreFreeThatNobodyHas() {
    Gpu cut = GpuNodes.cut(GpuNodes.migCards("n", 1).getFirst(), "3g.71gb:0", "1g.18gb:4");
    CardState card = card(fleet(GpuNodes.ready("n", GpuNodeSpec.DEFAULT, List.of(cut))), 0);
    assertThat(card.standing()).isEqualTo(CardStanding.Available);
    assertThat(card.memoryFree()).isEqualTo((69 + 16) * GIB);
    assertThat(card.problem()).isEmpty();
    Gpu gone = cut.withStaticMigInstances(
        List.of(cut.staticMigInstances().getFirst(), new StaticMigInstance("", "1g.18gb",
            new MigProfile.Placement(4, 1), GpuHealth.unhealthy("MigInstanceIsGone", "it is not there any more"))));
    CardState without = card(fleet(GpuNodes.ready("n", GpuNodeSpec.DEFAULT, List.of(gone))), 0);
    assertThat(without.memoryFree()).isEqualTo(69 * GIB);
    assertThat(without.problem()).hasValue("it is not there any more");
  }

  @Test
  void ofAnInstanceWithSharesThatIsFreeWhichNobodyHas() {
    GpuNode node = GpuNodes.ready("n", GpuNodeSpec.DEFAULT,
        List.of(GpuNodes.cutShareably(GpuNodes.migCards("n", 1).getFirst(), "3g.71gb:0", "1g.18gb:4")));
    HeldDevice share = HeldDevice.instanceShare("GPU-n-0", "1g.18gb", new MigProfile.Placement(4, 1), 6 * GIB);
    GpuNodes.holding(node, new HeldClaim("gone", "team", "gone", HeldClaim.Reason.ClaimGone, List.of(share, share),
        "2026-01-01T00:00:00Z"));
    CardState card = card(fleet(node), 0);
    assertThat(card.memoryAllocated()).isEqualTo(12 * GIB);
    assertThat(card.memoryFree()).isEqualTo((69 + 4) * GIB);
  }

  @Test
  void whatANodeHoldsForAClaimThatIsGoneIsAllocated() {
    GpuNode node = PaperFleet.node("n", 1);
    node.setStatus(
        node.getStatus().withHeld(
            List.of(
                new HeldClaim("gone", "team", "gone", HeldClaim.Reason.ClaimGone,
                    List.of(HeldDevice.share("GPU-n-0", 8 * GIB, 10)), "2026-01-01T00:00:00Z"))));
    assertThat(card(fleet(node), 0).memoryAllocated()).isEqualTo(8 * GIB);
    assertThat(card(fleet(node), 0).memoryFree()).isEqualTo(132 * GIB);
  }

  @Test
  void nothingIsFreeOfACardThatNobodyCanGet() {
    GpuNode withheld =
        PaperFleet.node("n", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null,
            List.of("GPU-n-0")), List.of(PaperFleet.card("n", 0)));
    GpuNode cordoned =
        PaperFleet.node("n", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(),
            List.of("GPU-n-0"), List.of(), null), List.of(PaperFleet.card("n", 0)));
    GpuNode unhealthy =
        PaperFleet.node("n", GpuNodeSpec.DEFAULT,
            List.of(PaperFleet.card("n", 0).withHealth(GpuHealth.unhealthy("XID 79", "fell off the bus"))));
    GpuNode unready = PaperFleet.node("n", 1);
    unready.setStatus(unready.getStatus().withConditions(List.of()));
    GpuNode elsewhere =
        PaperFleet.node("n", GpuNodeSpec.DEFAULT,
            List.of(PaperFleet.card("n", 0).withServedBy(List.of(new OtherServer("nvidia.com/gpu", true, 1)))));
    GpuNode byDriver = PaperFleet.node("n", 1);
    byDriver.setStatus(byDriver.getStatus()
        .withOtherDrivers(List.of(new OtherDriverDevice("GPU-n-0", "gpu.nvidia.com", "n", "gpu-0", 1))));
    assertThat(card(fleet(elsewhere), 0).standing()).isEqualTo(CardStanding.ServedElsewhere);
    assertThat(card(fleet(byDriver), 0).standing()).isEqualTo(CardStanding.ServedElsewhere);
    assertThat(card(fleet(byDriver), 0).problem()).contains("claims have it by the DRA driver gpu.nvidia.com");
    assertThat(card(fleet(withheld), 0).standing()).isEqualTo(CardStanding.Withheld);
    assertThat(card(fleet(cordoned), 0).standing()).isEqualTo(CardStanding.Cordoned);
    assertThat(card(fleet(unhealthy), 0).standing()).isEqualTo(CardStanding.Unhealthy);
    assertThat(card(fleet(unready), 0).standing()).isEqualTo(CardStanding.NodeNotReady);
    for (GpuNode node : List.of(withheld, cordoned, unhealthy, unready, elsewhere, byDriver)) {
      assertThat(card(fleet(node), 0).memoryFree()).isZero();
    }
  }

  @Test
  void whatSharesUseIsAddedUp() {
    CardState card =
        card(fleet(PaperFleet.node("n", 1), PaperFleet.used(PaperFleet.share("t", "a", "n", 0, 8, 25), 3, 4, 20),
            PaperFleet.used(PaperFleet.share("t", "b", "n", 0, 8, 25), 2, 2, 5),
            PaperFleet.share("t", "c", "n", 0, 8, 0)), 0);
    assertThat(card.memoryUsed()).hasValue(5 * GIB);
    assertThat(card.coresUsed()).hasValue(25);
    assertThat(card.devices().getFirst().users()).containsExactly("a");
  }

  @Test
  void whatSomebodyWroteThatIsNoFigureCountsAsNotSaid() {
    for (Map<String, String> data : List.of(Map.of("memoryUsed", "much"), Map.of("memoryUsed", "-8Gi"),
        Map.of("memoryUsed", "9".repeat(4096)), Map.of("coresUsed", "NaN"), Map.of("coresUsed", "1e300"),
        Map.of("processes", "-1"))) {
      assertThat(Measured.of(data)).as("%s", data).isEqualTo(Measured.NOTHING);
    }
    assertThat(Measured.of(Map.of("memoryUsed", "8Gi", "coresUsed", "12.6")))
        .isEqualTo(new Measured(OptionalLong.empty(), OptionalLong.of(8 * GIB), OptionalLong.empty(),
            OptionalLong.of(13), OptionalLong.empty()));
  }
}
