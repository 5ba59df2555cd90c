package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.nvml.MigControl;
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
  void whatAKilledPluginOrSomebodyElseHasLeftInTheWayIsEnded() throws IOException {
    node.cards.migOn = true;
    node.cards.instances.put(5, new MigControl.GpuInstance(5, "2g.35gb", 4, 2, List.of()));
    node.cards.instances.put(8, new MigControl.GpuInstance(8, "1g.18gb", 5, 1, List.of()));
    node.cards.instances.put(9, new MigControl.GpuInstance(9, "1g.18gb", 6, 1, List.of()));
    ResourceClaim claim = node.newClaim();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.cards.instances.keySet()).containsExactly(5, 9);
    assertThat(Objects.requireNonNull(node.cards.instances.get(5)).computeInstances()).hasSize(1);
    assertThat(node.unprepare(claim)).isEmpty();
    assertThat(node.cards.instances.keySet()).containsExactly(9);
  }

  @Test
  void anInstanceThatAProcessStillUsesKeepsTheClaimUntilItIsGone() throws IOException {
    ResourceClaim claim = node.newClaim();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    node.cards.inUse = true;
    assertThat(node.unprepare(claim).orElseThrow())
        .contains("MIG instance 2g.35gb at memory slice 4 of card GPU-2 (gpu-2) cannot be ended", "in use");
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
  void anInstanceThatMayBeOfAClaimWhoseRecordIsLostIsNotEndedForAnother() throws IOException {
    ResourceClaim first = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"));
    assertThat(node.prepare(first)).isInstanceOf(ClaimService.Ready.class);
    Path record = root.resolve("state/claims/" + first.getMetadata().getUid() + ".claim");
    Files.writeString(record, "garbage");
    node.gone = Set.of(); // it is there, and its record will be
    ResourceClaim other = node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-0"));
    assertThat(node.prepare(other))
        .isInstanceOfSatisfying(ClaimService.Failed.class,
            failed -> assertThat(failed.error()).contains("whose record is missing (" + first.getMetadata().getUid()));
    ResourceClaim asAWhole = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 2));
    assertThat(node.prepare(asAWhole)).isInstanceOfSatisfying(ClaimService.Failed.class,
        failed -> assertThat(failed.error()).contains("whose record is missing"));
    assertThat(node.cards.instances.values()).extracting(MigControl.GpuInstance::start).containsExactly(4);
    ResourceClaim share = node.newClaim(share(NodeOfPlugins.NODE, "gpu", 0, "1Gi", ""));
    assertThat(node.prepare(share)).as("nothing is ended for it").isInstanceOf(ClaimService.Ready.class);

    ClaimService.Outcome rebuilt = node.run(real -> real, p -> p.rebuild(NodeOfPlugins.ref(first)));
    assertThat(rebuilt).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.prepare(asAWhole)).isInstanceOf(ClaimService.Ready.class);
  }
}
