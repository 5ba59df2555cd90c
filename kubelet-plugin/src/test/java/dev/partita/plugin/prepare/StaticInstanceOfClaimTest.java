package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.instanceShare;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.step.Step;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A MIG instance that somebody has made by hand is given to claims, and outlives them. */
class StaticInstanceOfClaimTest extends OnNodeOfPlugins {
  @Test
  void aClaimGetsTheNodesOfTheInstanceAndLeavesItStanding() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    ResourceClaim claim = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.prepare(claim)).as("again").isInstanceOf(ClaimService.Ready.class);
    assertThat(node.files("cdi").getFirst()).content()
        .contains("/dev/nvidia-caps/nvidia-cap320", "/dev/nvidia-caps/nvidia-cap321")
        .doesNotContain("made-instances");
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances.keySet()).containsExactly(9);
    assertThat(node.cards.migOn).isTrue();
    node.assertNothingLeftOfClaims();
  }

  @Test
  void nobodyElseCanHaveItMeanwhile() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    node.cards.instances.put(5, node.cards.staticAt(5, 4));
    ResourceClaim first = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
    assertThat(node.prepare(first)).isInstanceOf(ClaimService.Ready.class);
    ResourceClaim same = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
    assertThat(error(same)).contains("gpu-2-mig-2g-35gb-0 of card", "is wanted, but");
    ResourceClaim beside = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    assertThat(node.prepare(beside)).isInstanceOf(ClaimService.Ready.class);
  }

  @Test
  void aCardThatIsCutByHandServesInNoOtherWayAndKeepsItsInstances() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    assertThat(error(node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 2)))).contains("cut the card into MIG instances");
    assertThat(error(node.newClaim(share(NodeOfPlugins.NODE, "gpu", 2, "1Gi", ""))))
        .contains("cut the card into MIG instances");
    assertThat(error(node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"))))
        .as("which Partita could make on a card of its own").contains("this is none that is there");
    assertThat(node.cards.instances.keySet()).containsExactly(9);
    assertThat(node.prepare(node.newClaim(share(NodeOfPlugins.NODE, "gpu", 0, "1Gi", ""))))
        .as("another card").isInstanceOf(ClaimService.Ready.class);
  }

  @Test
  void oneThatIsNotWholeIsNeitherGivenNorEnded() throws IOException {
    node.cards.migOn = true;
    node.cards.instances.put(9, new MigControl.GpuInstance(9, "2g.35gb", 0, 2, List.of()));
    assertThat(error(node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"))))
        .contains("MIG instance 2g.35gb at memory slice 0", "is in the way", "nvidia-smi mig -i 2 -gi 9 -dci");
    assertThat(error(node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 2)))).contains("is in the way");
    assertThat(node.cards.instances.keySet()).containsExactly(9);
    node.assertNothingLeftOfClaims();
  }

  @Test
  void oneThatWasMadeSinceTheCardsWereReadIsNotTakenForTheClaims() throws IOException {
    ResourceClaim claim = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
    ClaimService.Outcome outcome = node.run(real -> step -> {
      if (step instanceof Step.RequireFreePlace) {
        node.cards.instances.put(9, node.cards.staticAt(9, 0));
      }
      real.execute(step);
    }, p -> p.prepare(NodeOfPlugins.ref(claim)));
    assertThat(outcome).isInstanceOfSatisfying(ClaimService.Failed.class,
        failed -> assertThat(failed.error()).contains("is in the way"));
    assertThat(node.cards.instances.keySet()).as("taking back ends nothing").containsExactly(9);
    node.assertNothingLeftOfClaims();
    assertThat(node.prepare(claim)).as("now it is known as somebody else's").isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances.keySet()).containsExactly(9);
  }

  @Test
  void oneThatSomebodyHasEndedIsMissedAndServesAgainOnceItIsThere() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    ResourceClaim claim = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    node.cards.instances.clear();
    assertThat(error(claim)).contains("gpu-2-mig-2g-35gb-0 is not there: somebody has ended it");
    node.cards.instances.put(5, node.cards.staticAt(5, 0));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.files("cdi").getFirst()).content().as("its present nodes").contains("nvidia-cap318");
    node.cards.instances.clear();
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeftOfClaims();
  }

  @Test
  void aShareOfAnInstanceIsHeldByTheLibraryUnderTheInstancesUuidBesideOtherShares() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    ResourceClaim first = node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "20Gi"));
    ResourceClaim second = node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "12Gi"));
    ResourceClaim third = node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "1Gi"));
    assertThat(node.prepare(first)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.prepare(first)).as("again").isInstanceOf(ClaimService.Ready.class);
    try (Stream<Path> files = Files.walk(node.root)) {
      assertThat(files.filter(file -> file.endsWith("quota") && Files.isRegularFile(file))).singleElement()
          .satisfies(quota -> assertThat(quota).content()
              .contains("\ngpu " + CuttableCards.uuidOf(9, 0) + "\nmemory " + (20L << 30) + "\n", "\ncores 0\n"));
    }
    assertThat(node.files("cdi").getFirst()).content()
        .contains("/dev/nvidia-caps/nvidia-cap320", "/dev/nvidia-caps/nvidia-cap321", "/etc/partita/shares/",
            "libcuda-real.so.1")
        .doesNotContain("made-instances", "SM_LIMIT");
    assertThat(node.prepare(second)).isInstanceOf(ClaimService.Ready.class);
    assertThat(error(third)).contains("MIG instance 2g-35gb-0 of card", "its shares would hold");
    assertThat(error(node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0")))).contains("is wanted, but");
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.prepare(third)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(second)).isEmpty();
    assertThat(node.unprepare(third)).isEmpty();
    assertThat(node.cards.instances.keySet()).as("it outlives them").containsExactly(9);
    node.assertNothingLeftOfClaims();
  }

  @Test
  void thereAreSharesOnlyOfInstancesThatAreThereAndCanBeTold() throws IOException {
    assertThat(error(node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "1Gi"))))
        .contains("only of MIG instances that somebody else than Partita made");
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    node.cards.instances.put(5, new MigControl.GpuInstance(5, "2g.35gb", 4, 2,
        List.of(new MigControl.ComputeInstance(0, true, "MIG-GPU-2/5/0"))));
    assertThat(error(node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4", "1Gi"))))
        .contains("no UUID of its own (\"MIG-GPU-2/5/0\")");
    assertThat(error(node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "33Gi"))))
        .contains("the MIG instance has");
    node.assertNothingLeftOfClaims();
  }

  @Test
  void aShareOfAnInstanceThatIsAnotherOneByNowIsNotPreparedAgain() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    ResourceClaim claim = node.newClaim(instanceShare(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0", "1Gi"));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    node.cards.instances.clear();
    node.cards.instances.put(5, node.cards.staticAt(5, 0));
    assertThat(error(claim)).contains("is another instance than " + CuttableCards.uuidOf(9, 0));
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeftOfClaims();
  }

  @Test
  void anAdministratorLooksAtAnInstanceBesideTheClaimThatHasItWhoeverMadeIt() throws IOException {
    for (boolean byHand : List.of(true, false)) {
      if (byHand) {
        node.cards.instances.put(5, node.cards.staticAt(5, 4));
      }
      ResourceClaim has = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
      ResourceClaim looks = node.newClaim(looksAt("2g-35gb-4"));
      assertThat(node.prepare(has)).isInstanceOf(ClaimService.Ready.class);
      assertThat(node.prepare(looks)).isInstanceOf(ClaimService.Ready.class);
      assertThat(node.prepare(looks)).as("again").isInstanceOf(ClaimService.Ready.class);
      assertThat(node.files("cdi")).allSatisfy(spec -> assertThat(spec).content()
          .contains("/dev/nvidia-caps/nvidia-cap318", "/dev/nvidia-caps/nvidia-cap319"));
      assertThat(error(node.newClaim(looksAt("2g-35gb-0")))).contains("gpu-2-mig-2g-35gb-0 is not there");
      assertThat(node.unprepare(has)).isEmpty();
      assertThat(node.cards.instances.keySet()).as("by hand: %s", byHand).hasSize(byHand ? 1 : 0);
      node.cards.instances.clear();
      ResourceClaim next = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
      assertThat(node.prepare(next)).as("who looks keeps nothing, also of an instance that is gone")
          .isInstanceOf(ClaimService.Ready.class);
      assertThat(node.unprepare(next)).isEmpty();
      assertThat(node.unprepare(looks)).isEmpty();
      node.assertNothingLeft();
    }
  }

  private static DeviceRequestAllocationResult looksAt(String slot) {
    return new DeviceRequestAllocationResultBuilder(instance(NodeOfPlugins.NODE, "gpu", 2, slot))
        .withAdminAccess(true).build();
  }

  private String error(ResourceClaim claim) throws IOException {
    return node.prepare(claim) instanceof ClaimService.Failed(String error) ? error : "";
  }
}
