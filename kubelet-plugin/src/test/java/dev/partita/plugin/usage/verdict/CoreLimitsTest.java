package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.claim.Grants;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CoreLimitsTest {
  @Test
  void cardsAreCountedOnWhichAContainerIsLimited() {
    assertThat(limited(Grants.share("a", 0, "s0", 8, 20))).isEqualTo(1);
    assertThat(limited(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 1, "s1", 8, 99))).isEqualTo(2);
    assertThat(limited(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 1, "s1", 8, 100)))
        .as("all of a card is no limit").isEqualTo(1);
    assertThat(limited(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 1, "s1", 8, 0))).as("nor is none")
        .isEqualTo(1);
  }

  @Test
  void sharesOfOneCardAreOneLimit() {
    assertThat(limited(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 0, "s1", 8, 20))).isEqualTo(1);
    assertThat(limited(Grants.share("a", 0, "s0", 8, 60), Grants.share("b", 0, "s1", 8, 60))).isZero();
    assertThat(limited(Grants.share("a", 0, "s0", 8, 20), Grants.share("b", 0, "s1", 8, 0))).isZero();
  }

  private static long limited(Grant... grants) {
    ClaimRef claim = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grants), Map.of(), false);
    return CoreLimits.limitedCards(WatchedShare.of(List.of(prepared)));
  }
}
