package dev.partita.plugin.memorylimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.grant.WholeCard;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PodLimitTest {
  private static final long GIB = 1L << 30;

  @Test
  void aPodHasTheSumOfItsSharesOfEachCard() {
    PreparedClaim one = claim("one", grant(0, share(4)), grant(1, share(2)));
    PreparedClaim two = claim("two", grant(0, share(3)));
    assertThat(PodLimit.of(List.of(one, two), Map.of("one", Set.of("p"), "two", Set.of("p")), Set.of("GPU-0", "GPU-1"),
        Map.of()))
        .containsExactly(new PodLimit("p", "GPU-0", 7 * GIB), new PodLimit("p", "GPU-1", 2 * GIB));
  }

  @Test
  void aClaimThatPodsShareCountsInFullForEachOfThem() {
    assertThat(
        PodLimit.of(List.of(claim("one", grant(0, share(4)))), Map.of("one", Set.of("p", "q")), Set.of("GPU-0"),
            Map.of()))
        .containsExactly(new PodLimit("p", "GPU-0", 4 * GIB), new PodLimit("q", "GPU-0", 4 * GIB));
  }

  @Test
  void oversubscribedMemoryCountsAsFarAsItMayBeOnTheCard() {
    CardUse half = new HookedShare(new Share(8 * GIB, 4 * GIB, 0, CoreLimit.HARD, 0));
    assertThat(
        PodLimit.of(List.of(claim("one", grant(0, half))), Map.of("one", Set.of("p")), Set.of("GPU-0"), Map.of()))
        .containsExactly(new PodLimit("p", "GPU-0", 4 * GIB));
  }

  @Test
  void wholeCardsAndCardsThatAreNotLimitedHaveNoLimit() {
    PreparedClaim claim = claim("one", grant(0, new WholeCard()), grant(1, share(2)));
    assertThat(PodLimit.of(List.of(claim), Map.of("one", Set.of("p")), Set.of("GPU-0"), Map.of())).isEmpty();
  }

  private static PreparedClaim claim(String uid, Grant... grants) {
    return new PreparedClaim(
        new ClaimRef("default", "c", uid), PreparedClaim.Phase.COMPLETED, "boot", List.of(grants), Map.of(), false);
  }

  private static CardUse share(long gib) {
    return new HookedShare(new Share(gib * GIB, 0, CoreLimit.HARD, 0));
  }

  private static Grant grant(int card, CardUse use) {
    return new Grant(
        List.of("r"), "gpu-" + card, Optional.empty(),
        new CardIdentity(card, card, "GPU-" + card, "H200", 141 * GIB, Optional.empty()),
        use);
  }
}
