package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CoreLimitsTest {
  @Test
  void sharesOfOneCardAreOneLimit() {
    assertThat(together(Grants.share("a", 0, "s0", 8, 20))).isEqualTo(20);
    assertThat(together(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 0, "s1", 8, 30))).isEqualTo(50);
    assertThat(together(Grants.share("a", 0, "s0", 8, 60), Grants.share("b", 0, "s1", 8, 60))).isEqualTo(100);
    assertThat(together(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 0, "s1", 8, 0))).as("one has none")
        .isEqualTo(100);
  }

  private static int together(Grant... grants) {
    ClaimRef claim = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grants), Map.of(), false);
    return CoreLimits.together(WatchedShare.of(List.of(prepared)).stream().map(WatchedShare::share).toList());
  }
}
