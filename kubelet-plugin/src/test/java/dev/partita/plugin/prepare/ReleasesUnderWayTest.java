package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.PreparedClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReleasesUnderWayTest extends OnNodeOfPlugins {
  @Test
  void aClaimThatWasReleasedBeforeItsRecordIsReadAgainIsNoReasonToRefuse() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    assertThat(await(claim)).as("it has its card").isFalse();
    List<PreparedClaim> clashing = node.runParts(real -> real, parts -> parts.checkpoint().readAll());
    assertThat(node.unprepare(claim)).isEmpty();
    boolean released = node.runParts(real -> real, parts -> releases(parts).await(clashing, Patience.ofKubelet()));
    assertThat(released).isTrue();
  }

  private boolean await(ResourceClaim claim) throws IOException {
    node.prepare(claim);
    return node.runParts(real -> real,
        parts -> releases(parts).await(parts.checkpoint().readAll(), Patience.ofKubelet()));
  }

  private static ReleasesUnderWay releases(NodeOfPlugins.Parts parts) {
    return new ReleasesUnderWay(parts.api(), parts.checkpoint(), NodeOfPlugins.NODE + "/gpu");
  }
}
