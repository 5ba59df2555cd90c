package dev.partita.plugin.resize;

import static dev.partita.plugin.grant.Grants.GIB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.Lending;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.grant.Growth;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.grant.WholeCard;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LoanPlanTest {
  private static final Gpu CARD =
      new Gpu(0, 0, "GPU-0", GpuProduct.named("NVIDIA H100", "Nvidia", "Hopper", "9.0"), 80 * GIB, GpuTopology.UNKNOWN,
          GpuHealth.HEALTHY);

  @Test
  void whatNoClaimHasIsLentInEqualPartsAndWhatOneCannotTakeTheOthersGet() {
    assertThat(loans(fixed("owner", 30), growing("small", 10, 15, 0), growing("large", 10, 80, 0)))
        .isEqualTo(Map.of("small", 5L, "large", 25L));
    assertThat(loans(growing("one", 10, 80, 0), growing("other", 10, 80, 0)))
        .isEqualTo(Map.of("one", 30L, "other", 30L));
  }

  @Test
  void whatIsLentAlreadyIsNotTaken() {
    assertThat(loans(fixed("owner", 30), growing("a", 10, 80, 40))).isEqualTo(Map.of("a", 40L));
    assertThat(loans(fixed("owner", 60), growing("a", 10, 80, 40))).isEqualTo(Map.of("a", 10L));
  }

  @Test
  void nobodyGivesBackWhatItHoldsSoThatAnotherOneIsLentMore() {
    List<PreparedClaim> there = List.of(growing("first", 10, 80, 60), growing("later", 10, 80, 0));
    LoanPlan holding = LoanPlan.of(CARD, GpuNodeSpec.DEFAULT, there, List.of(),
        share -> share.uid().equals("first") ? 60 * GIB - 1 : 0);
    assertThat(holding.isShort()).isFalse();
    assertThat(holding.loans()).containsEntry(new ShareRef("first", "first"), 50 * GIB)
        .containsEntry(new ShareRef("later", "later"), 10 * GIB);
    LoanPlan idle = LoanPlan.of(CARD, GpuNodeSpec.DEFAULT, there, List.of(), share -> 0);
    assertThat(idle.loans().values()).as("what it does not hold it shares").containsOnly(30 * GIB);
  }

  @Test
  void whatAClaimNeedsComesBackFromTheLargestLoansWhoeverHoldsWhat() {
    LoanPlan plan = LoanPlan.of(CARD, GpuNodeSpec.DEFAULT,
        List.of(growing("large", 10, 80, 40), growing("small", 10, 80, 20)), List.of(fixed("waits", 30)),
        share -> 80 * GIB);
    assertThat(plan.isShort()).isTrue();
    assertThat(plan.loans()).containsEntry(new ShareRef("large", "large"), 15 * GIB)
        .containsEntry(new ShareRef("small", "small"), 15 * GIB);
  }

  @Test
  void nothingIsLentOfWhatAClaimWaitsFor() {
    List<PreparedClaim> there = List.of(growing("a", 10, 80, 70));
    assertThat(loans(there, List.of(fixed("waits", 50)), GpuNodeSpec.DEFAULT)).isEqualTo(Map.of("a", 20L));
    assertThat(loans(there, List.of(with("waits", new WholeCard())), GpuNodeSpec.DEFAULT)).isEqualTo(Map.of("a", 0L));
    assertThat(loans(List.of(growing("a", 10, 80, 30), fixed("grows", 40)), List.of(fixed("grows", 60)),
        GpuNodeSpec.DEFAULT)).as("a claim that is resized counts once").isEqualTo(Map.of("a", 10L));
  }

  @Test
  void aNodeLendsNoMoreThanItsSettingSays() {
    List<PreparedClaim> there = List.of(growing("a", 20, 80, 0));
    assertThat(loans(there, List.of(), lending(new Lending(50, null)))).isEqualTo(Map.of("a", 30L));
    assertThat(loans(there, List.of(), lending(new Lending(0, null)))).isEqualTo(Map.of("a", 0L));
    GpuNodeSpec twiceAllocatable = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 200);
    assertThat(loans(there, List.of(), twiceAllocatable)).as("it offers more than its cards have")
        .isEqualTo(Map.of("a", 0L));
  }

  @Test
  void noMoreIsLentThanTheCardHas() {
    assertThat(loans(fixed("owner", 75), growing("a", 5, 80, 40))).isEqualTo(Map.of("a", 0L));
  }

  private static GpuNodeSpec lending(Lending lending) {
    return new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(), List.of(), List.of(),
        lending);
  }

  private static Map<String, Long> loans(PreparedClaim... prepared) {
    return loans(List.of(prepared), List.of(), GpuNodeSpec.DEFAULT);
  }

  /** GiB by the claim's name. */
  private static Map<String, Long> loans(List<PreparedClaim> prepared, List<PreparedClaim> wanted, GpuNodeSpec node) {
    Map<String, Long> byName = new HashMap<>();
    LoanPlan.of(CARD, node, prepared, wanted, share -> 0).loans().forEach((ShareRef share, Long bytes) -> {
      assertThat(bytes % (2 << 20)).isZero();
      byName.put(share.uid(), bytes / GIB);
    });
    return byName;
  }

  private static PreparedClaim fixed(String name, long gib) {
    return with(name, new HookedShare(new Share(gib * GIB, 0, CoreLimit.HARD, 1)));
  }

  private static PreparedClaim growing(String name, long gib, long most, long lent) {
    Share share = new Share(gib * GIB, gib * GIB, 0, CoreLimit.HARD, 1, Optional.empty(),
        Optional.of(new Growth(most * GIB, 0)));
    return with(name, new HookedShare(share.lent(lent * GIB)));
  }

  private static PreparedClaim with(String name, CardUse use) {
    Grant like = Grants.share("a", 0, name, 1, 0);
    return new PreparedClaim(new ClaimRef("default", name, name), PreparedClaim.Phase.COMPLETED, "boot",
        List.of(new Grant(like.requests(), like.device(), like.shareId(), like.card(), use)), Map.of(), false);
  }
}
