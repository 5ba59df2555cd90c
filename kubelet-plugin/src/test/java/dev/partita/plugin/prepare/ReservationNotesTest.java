package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The search for leftovers reads a claim, and kubelet may have it released before what was read is noted. */
class ReservationNotesTest extends OnNodeOfPlugins {
  private static final String POD = "6a2f41a3-c54c-fce8-32d2-0324e1c32e22";

  @Test
  void thePodsOfAClaimThatIsReleasedMeanwhileAreNotNoted() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    node.prepare(claim);
    assertThat(node.unprepare(claim)).isEmpty();
    note(claim);
    node.assertNothingLeft();
  }

  @Test
  void aPodThatIsReservedLaterIsNoted() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    node.prepare(claim);
    note(claim);
    assertThat(node.files("run/pods")).singleElement().satisfies(file -> assertThat(file).hasContent(POD));
  }

  @Test
  void aPodThatHasTheDevicesOfAClaimThatIsReservedForAPodGroupIsNoted() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    node.prepare(claim);
    claim.getStatus().setReservedFor(
        List.of(new ResourceClaimConsumerReference("scheduling.k8s.io", "train", "podgroups", "a-group")));
    note(claim, Set.of(POD));
    assertThat(node.files("run/pods")).singleElement().satisfies(file -> assertThat(file).hasContent(POD));
  }

  private void note(ResourceClaim claim) throws IOException {
    claim.getStatus().setReservedFor(List.of(new ResourceClaimConsumerReference("", "pod", "pods", POD)));
    note(claim, Set.of());
  }

  private void note(ResourceClaim claim, Set<String> unnamed) throws IOException {
    node.run(
        real -> real,
        plugin -> {
          try {
            plugin.noteReservations(claim, unnamed);
            return true;
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
