package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.leftover.SpecRenewal;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.step.Step;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The MIG instance of a claim is made and ended with it. */
class InstanceOfClaimTest extends OnNodeOfPlugins {
  @Test
  void theContainerGetsTheNodesOfItsInstanceAlsoBeforeTheyAreThere() throws IOException {
    assertThat(node.prepare(node.newClaim())).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.files("cdi").getFirst()).content().contains("/dev/nvidia-caps/nvidia-cap318",
        "/dev/nvidia-caps/nvidia-cap319", "235");
    assertThat(node.cards.instances.values()).containsExactly(
        new MigControl.GpuInstance(5, "2g.35gb", 4, 2, List.of(new MigControl.ComputeInstance(0, true, "MIG-5"))));
  }

  @Test
  void whatAKilledPluginHasHalfMadeForTheClaimIsMadeAnew() throws IOException {
    ResourceClaim claim = node.newClaim();
    assertThatThrownBy(() -> node.run(real -> step -> {
      if (step instanceof Step.RemoveSpec) {
        throw new AssertionError("killed before it could take anything back");
      }
      real.execute(step);
      if (step instanceof Step.MakeInstance) {
        throw new IllegalStateException("killed");
      }
    }, p -> p.prepare(NodeOfPlugins.ref(claim)))).hasMessageContaining("killed");
    node.cards.instances.put(5, new MigControl.GpuInstance(5, "2g.35gb", 4, 2, List.of()));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(Objects.requireNonNull(node.cards.instances.get(5)).computeInstances()).hasSize(1);
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void anInstanceThatAResetOfItsCardHasEndedIsMadeAgain() throws IOException {
    ResourceClaim claim = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    node.runParts(real -> real, parts -> {
      SpecRenewal renewal = new SpecRenewal(parts.inventory()::current, parts.store(), parts.claims().rewriter());
      parts.inventory().afterReadings(renewal::cardsWereRead);
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      node.cards.present = List.of("GPU-0", "GPU-1");
      node.cards.instances.clear();
      node.cards.migOn = false;
      parts.inventory().refresh();
      parts.inventory().refresh(); // when it begins, all is done that comes after the one before
      node.cards.present = List.of("GPU-0", "GPU-1", "GPU-2");
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      return true;
    });
    assertThat(node.cards.instances.values()).extracting(MigControl.GpuInstance::start).containsExactly(4);
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void anInstanceThatAProcessStillUsesKeepsTheClaimUntilItIsGone() throws IOException {
    ResourceClaim claim = node.newClaim();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    node.cards.inUse = true;
    assertThat(node.unprepare(claim).orElseThrow())
        .contains("MIG instance 2g-35gb-4 of card GPU-2 cannot be ended", "in use");
    assertThat(node.files("state/claims")).hasSize(1);
    node.cards.inUse = false;
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void aClaimEndsAlsoWhenTheDriverWasUnloadedBeforeIt() throws IOException {
    ResourceClaim claim = node.newClaim();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    node.cards.driverLoaded = false;
    node.cards.instances.clear();
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void anInstanceOfAClaimWhoseRecordIsLostIsStillTheClaims() throws IOException {
    ResourceClaim first = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    assertThat(node.prepare(first)).isInstanceOf(ClaimService.Ready.class);
    loseRecord(first);
    node.gone = Set.of(); // it is there, and its record will be
    ResourceClaim asAWhole = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 2));
    assertThat(node.prepare(asAWhole)).isInstanceOfSatisfying(ClaimService.Failed.class,
        failed -> assertThat(failed.error()).contains("MIG instance 2g.35gb at memory slice 4", "is in the way"));
    assertThat(node.cards.instances.values()).extracting(MigControl.GpuInstance::start).containsExactly(4);

    ClaimService.Outcome rebuilt = node.run(real -> real, p -> p.rebuild(NodeOfPlugins.ref(first))).orElseThrow();
    assertThat(rebuilt).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.prepare(asAWhole)).isInstanceOf(ClaimService.Ready.class);
  }

  @Test
  void anInstanceOfAClaimWhoseRecordIsLostIsEndedWithTheClaim() throws IOException {
    ResourceClaim claim = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    loseRecord(claim);
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances.keySet()).containsExactly(9);
  }

  @Test
  void anInstanceOfAClaimThatHasLostItsSpecTooIsStillTheClaims() throws IOException {
    ResourceClaim claim = withNothingButItsInstance();
    node.gone = Set.of();
    ResourceClaim asAWhole = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 2));
    assertThat(node.prepare(asAWhole)).as("it is not somebody else's").isInstanceOfSatisfying(
        ClaimService.Failed.class, failed -> assertThat(failed.error()).contains("is in the way"));
    assertThat(node.run(real -> real, p -> p.rebuild(NodeOfPlugins.ref(claim))).orElseThrow())
        .isInstanceOf(ClaimService.Ready.class);
    assertThat(node.files("cdi").getFirst()).content().contains("made-instances");
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances).isEmpty();
    assertThat(node.files("state/driver-notes")).isEmpty();
  }

  @Test
  void anInstanceOfAClaimThatHasLostItsSpecTooIsEndedWithTheClaimAndNoOtherIs() throws IOException {
    ResourceClaim claim = withNothingButItsInstance();
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances.keySet()).containsExactly(9);
    assertThat(node.files("state/driver-notes")).isEmpty();
  }

  @Test
  void anInstanceThatAnotherClaimHasByItsRecordIsNotEndedByWhatWasNotedBefore() throws IOException {
    ResourceClaim claim = withNothingButItsInstance();
    Path note = node.files("state/driver-notes").getFirst();
    String noted = Files.readString(note);
    assertThat(node.unprepare(claim)).isEmpty();
    Files.writeString(note, noted); // an earlier version of the plugin has released it, and knows no notes
    ResourceClaim next = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    node.gone = Set.of();
    assertThat(node.prepare(next)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances).hasSize(1);
    assertThat(node.unprepare(next)).isEmpty();
    assertThat(node.cards.instances).isEmpty();
    assertThat(node.files("state/driver-notes")).isEmpty();
  }

  /** A claim that is prepared, whose record is damaged and whose spec somebody has removed. */
  private ResourceClaim withNothingButItsInstance() throws IOException {
    ResourceClaim claim = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    loseRecord(claim);
    Files.delete(node.files("cdi").getFirst());
    return claim;
  }

  private void loseRecord(ResourceClaim claim) throws IOException {
    Files.writeString(root.resolve("state/claims/" + claim.getMetadata().getUid() + ".claim"), "garbage");
  }
}
