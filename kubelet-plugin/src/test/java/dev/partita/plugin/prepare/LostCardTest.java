package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.leftover.SpecRenewal;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node that comes up again without one of its cards, so that the driver gives the others new device nodes. */
class LostCardTest extends OnNodeOfPlugins {
  @Test
  void aClaimOfALostCardIsNotGivenTheDeviceNodeThatAnotherCardHasNow() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    ClaimService.Outcome first = node.prepare(claim);
    assertThat(first).isInstanceOf(ClaimService.Ready.class);
    node.cards.present = List.of("GPU-1", "GPU-2");
    assertThat(node.prepare(claim))
        .isInstanceOfSatisfying(ClaimService.Failed.class,
            failed -> assertThat(failed.error()).contains("card GPU-0 (gpu-0) does not answer"));
    assertThat(node.files("state/claims")).as("the claim still has what it had").hasSize(1);
    node.cards.present = List.of("GPU-0", "GPU-1", "GPU-2");
    assertThat(node.prepare(claim)).isEqualTo(first);
    node.cards.present = List.of("GPU-1", "GPU-2");
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void aClaimFollowsItsCardToAnotherDeviceNode() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 1, "8Gi", ""));
    ClaimService.Outcome first = node.prepare(claim);
    assertThat(node.files("cdi").getFirst()).content().contains("/dev/nvidia1\"");
    node.cards.present = List.of("GPU-1", "GPU-2");
    assertThat(node.prepare(claim)).isEqualTo(first);
    assertThat(node.files("cdi").getFirst()).content().contains("/dev/nvidia0\"").doesNotContain("/dev/nvidia1\"");
  }

  /** Kubelet does not ask for the claim then. */
  @Test
  void aContainerThatBeginsAgainGetsItsCardsPresentDeviceNodeOrNone() throws IOException {
    ResourceClaim lost = node.newClaim(whole(NodeOfPlugins.NODE, "a", 0));
    ResourceClaim there = node.newClaim(share(NodeOfPlugins.NODE, "a", 1, "8Gi", ""));
    assertThat(node.prepare(lost)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.prepare(there)).isInstanceOf(ClaimService.Ready.class);
    node.runParts(real -> real, parts -> {
      SpecRenewal renewal = new SpecRenewal(parts.inventory()::current, parts.store(), parts.claims().rewriter());
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      node.cards.present = List.of("GPU-1", "GPU-2");
      parts.inventory().refresh();
      parts.inventory().refresh(); // when it begins, all is done that comes after the one before
      renewal.lookIfDriverChanged();
      assertThat(node.files("cdi")).singleElement().satisfies(spec -> assertThat(spec).content()
          .contains("/dev/nvidia0\"", there.getMetadata().getUid()).doesNotContain("/dev/nvidia1\""));
      node.cards.present = List.of("GPU-0", "GPU-1", "GPU-2");
      parts.inventory().refresh();
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      assertThat(node.files("cdi")).hasSize(2);
      return true;
    });
  }
}
