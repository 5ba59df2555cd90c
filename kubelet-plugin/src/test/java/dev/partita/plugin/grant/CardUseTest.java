package dev.partita.plugin.grant;

import dev.partita.plugin.claim.Clash;
import dev.partita.plugin.claim.PreparedClaim;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.gpu.MigProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The answers of every strategy on a node, in one table. */
class CardUseTest {
  private static final String CARD = "GPU-0";
  private static final Share SHARE =
      new Share(8 * Grants.GIB, 4 * Grants.GIB, 25, CoreLimit.HARD, 1);
  private static final Share BY_MPS = new Share(8 * Grants.GIB, 25, CoreLimit.NONE, 1);
  private static final Share GROWN = new Share(12 * Grants.GIB, 12 * Grants.GIB, 0, CoreLimit.HARD, 1,
      Optional.empty(), Optional.of(new Growth(20 * Grants.GIB, 4 * Grants.GIB)));
  private static final MigInstance INSTANCE = new MigInstance("1g.10gb", 3, 1, 10 * Grants.GIB);

  private static final InstanceShare OF_INSTANCE =
      new InstanceShare(INSTANCE, "MIG-1", new Share(4 * Grants.GIB, 0, CoreLimit.NONE, 1));

  private record Answers(
      CardUse use,
      boolean intercepted,
      boolean instance,
      boolean needsUncutCard,
      boolean isUsedWithoutLedger,
      Optional<HeldDevice> held,
      long gib,
      String words) {}

  private static Stream<Answers> table() {
    return Stream.of(
        new Answers(new HookedShare(SHARE), true, false, true, false,
            Optional.of(HeldDevice.share(CARD, 4 * Grants.GIB, 25)), 8,
            "8 GiB (4 GiB of it on the card) of it, at most 25 % of its time"),
        new Answers(new ExclusiveShare(SHARE), true, false, true, false, Optional.of(HeldDevice.whole(CARD)), 8,
            "8 GiB (4 GiB of it on the card) of it, at most 25 % of its time, nobody else on it"),
        new Answers(new TimeSlicing(TimeSlice.LONG), false, false, true, true,
            Optional.of(HeldDevice.share(CARD, 0, 0)),
            80, "all of it by time-slicing with other claims, neither memory nor cores limited: what one of them takes,"
                + " the others lack"),
        new Answers(new Mps(BY_MPS), true, false, true, false, Optional.of(HeldDevice.mps(CARD, 8 * Grants.GIB, 25)), 8,
            "8 GiB of it by MPS at the same time as other claims, at most 25 % of its multiprocessors, to which only the"
                + " container's own environment holds it"),
        new Answers(new WholeCard(), false, false, true, true, Optional.of(HeldDevice.whole(CARD)), 80, "whole it"),
        new Answers(INSTANCE, false, true, false, true,
            Optional.of(HeldDevice.instance(CARD, "1g.10gb", new MigProfile.Placement(3, 1))), 10,
            "MIG instance 1g.10gb (10 GiB) of it"),
        new Answers(new StaticInstance(INSTANCE), false, true, false, true,
            Optional.of(HeldDevice.instance(CARD, "1g.10gb", new MigProfile.Placement(3, 1))), 10,
            "static MIG instance 1g.10gb (10 GiB) of it"),
        new Answers(OF_INSTANCE, true, true, false, false,
            Optional.of(
                HeldDevice.instanceShare(CARD, "1g.10gb", new MigProfile.Placement(3, 1), 4 * Grants.GIB)),
            4, "4 GiB of static MIG instance 1g.10gb (10 GiB) of it"),
        new Answers(new BookedShare(8 * Grants.GIB, 4 * Grants.GIB, 25), false, false, false, false,
            Optional.of(HeldDevice.share(CARD, 4 * Grants.GIB, 25)), 8,
            "8 GiB of it, 25 % of its time, which is only counted: nothing holds its programs to that"),
        new Answers(new AdminAccess(), false, false, false, false, Optional.empty(), 80, "admin access to it"),
        new Answers(new AdminAccess(Optional.of(INSTANCE)), false, true, false, false, Optional.empty(), 10,
            "admin access to MIG instance 1g.10gb (10 GiB) of it"));
  }

  @Test
  void whatAShareWasLentIsNotKeptFromOthers() {
    CardUse grown = new HookedShare(GROWN);
    assertThat(grown.held(Grants.card(0))).contains(HeldDevice.share(CARD, 8 * Grants.GIB, 0));
    assertThat(grown.words("it")).isEqualTo("12 GiB of it, 4 GiB of it lent, up to 20 GiB while no claim needs them");
  }

  @ParameterizedTest
  @MethodSource("table")
  void everyStrategyAnswersForTheNode(Answers expected) {
    CardUse use = expected.use();
    assertThat(
        new Answers(use, use.share().isPresent(), use.mig().isPresent(), use.needsUncutCard(),
            use.isUsedWithoutLedger(), use.held(Grants.card(0)), use.memoryBytes(Grants.card(0)) / Grants.GIB,
            use.words("it")))
        .isEqualTo(expected);
    assertThat(use.enforcer(new Enforcer.Interception()).intercepts()).as("there is what the library holds it to")
        .isEqualTo(expected.intercepted());
  }

  @Test
  void theTableHasEveryStrategy() {
    assertThat(table().map(answers -> answers.use().getClass().getName()).distinct().toList())
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(CardUse.class.getPermittedSubclasses()).map(Class::getName).toList());
  }

  @Test
  void whetherTwoStandTogetherDoesNotDependOnWhoComesFirst() {
    List<String> together = new ArrayList<>();
    List<CardUse> uses = table().map(Answers::use).sorted(Comparator.comparing(u -> u.getClass().getName())).toList();
    for (CardUse first : uses) {
      for (CardUse second : uses) {
        boolean clashes = clashes(first, second);
        assertThat(clashes(second, first)).as("%s, %s", first, second).isEqualTo(clashes);
        if (!clashes) {
          together.add(first.getClass().getSimpleName() + "+" + second.getClass().getSimpleName());
        }
      }
    }
    assertThat(together.stream().filter(pair -> !pair.contains("AdminAccess"))).as("besides administrators")
        .containsExactly("BookedShare+BookedShare", "BookedShare+HookedShare", "HookedShare+BookedShare",
            "HookedShare+HookedShare", "InstanceShare+InstanceShare", "Mps+Mps", "TimeSlicing+TimeSlicing");
  }

  @Test
  void anInstanceIsMadeForItsClaimUnlessItWasThereBefore() {
    assertThat(table().map(Answers::use).filter(use -> use.made().isPresent())).containsExactly(INSTANCE);
    CardUse beside = new StaticInstance(new MigInstance("1g.10gb", 4, 1, 10 * Grants.GIB));
    assertThat(clashes(new StaticInstance(INSTANCE), beside)).isFalse();
    assertThat(clashes(INSTANCE, beside)).isFalse();
  }

  @Test
  void sharesOfAnInstanceAreAsManyAsItsMemoryIsForBesideOtherInstances() {
    ClaimRef asking = new ClaimRef("default", "new", "new");
    List<PreparedClaim> there = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      assertThat(Clash.between(List.of(grant(OF_INSTANCE)), asking, there)).as("%s there", i).isEmpty();
      there.add(new PreparedClaim(new ClaimRef("default", "there-" + i, "uid-" + i), PreparedClaim.Phase.COMPLETED, "",
          List.of(grant(OF_INSTANCE)), Map.of(), false));
    }
    assertThat(Clash.between(List.of(grant(OF_INSTANCE)), asking, there)).get().extracting(Clash::reason).asString()
        .contains("MIG instance 1g-10gb-3 of card GPU-0", "its shares would hold");
    MigInstance elsewhere = new MigInstance("1g.10gb", 4, 1, 10 * Grants.GIB);
    assertThat(Clash.between(List.of(grant(new StaticInstance(elsewhere))), asking, there)).isEmpty();
    assertThat(Clash.between(List.of(grant(new InstanceShare(elsewhere, "MIG-2", OF_INSTANCE.its()))), asking, there))
        .isEmpty();
    assertThat(OF_INSTANCE.enforcer(new Enforcer.Cgroup())).isEqualTo(new Enforcer.Interception());
    assertThat(OF_INSTANCE.uuidInContainers(Grants.card(0))).isEqualTo("MIG-1");
  }

  @Test
  void noMoreThanEightHaveACardInTurn() {
    Grant turn = grant(new TimeSlicing(TimeSlice.DEFAULT));
    ClaimRef asking = new ClaimRef("default", "new", "new");
    List<PreparedClaim> there = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      assertThat(Clash.between(List.of(turn), asking, there)).as("%s there", i).isEmpty();
      there.add(new PreparedClaim(new ClaimRef("default", "there-" + i, "uid-" + i), PreparedClaim.Phase.COMPLETED, "",
          List.of(turn), Map.of(), false));
    }
    assertThat(Clash.between(List.of(turn), asking, there)).get().extracting(Clash::reason).asString()
        .contains("prepared by time-slicing for 8 devices already");
  }

  @Test
  void asManyHaveACardByMpsAsItServesAndNoMoreThanItsMemoryIsFor() {
    Grant small = grant(new Mps(new Share(Grants.GIB, 0, CoreLimit.NONE, 1)));
    ClaimRef asking = new ClaimRef("default", "new", "new");
    List<PreparedClaim> there = new ArrayList<>();
    for (int i = 0; i < 48; i++) {
      assertThat(Clash.between(List.of(small), asking, there)).as("%s there", i).isEmpty();
      there.add(new PreparedClaim(new ClaimRef("default", "there-" + i, "uid-" + i), PreparedClaim.Phase.COMPLETED, "",
          List.of(small), Map.of(), false));
    }
    assertThat(Clash.between(List.of(small), asking, there)).get().extracting(Clash::reason).asString()
        .contains("prepared by MPS for 48 devices already");
    Grant large = grant(new Mps(new Share(73 * Grants.GIB, 0, CoreLimit.NONE, 1)));
    assertThat(Clash.between(List.of(large), asking, there.subList(0, 7))).isEmpty();
    assertThat(Clash.between(List.of(large), asking, there.subList(0, 8))).get().extracting(Clash::reason).asString()
        .contains("its shares would hold");
  }

  @Test
  void aShareByMpsIsHeldToItsMemoryByTheLibraryAndToNoTime() {
    assertThat(new Mps(BY_MPS).coreLimit()).isEmpty();
    assertThat(new Mps(BY_MPS).enforcer(new Enforcer.Cgroup())).isEqualTo(new Enforcer.Interception());
    assertThat(new Mps(new Share(Grants.GIB, 0, CoreLimit.NONE, 1)).words("it"))
        .isEqualTo("1 GiB of it by MPS at the same time as other claims, its multiprocessors not limited");
  }

  private static boolean clashes(CardUse present, CardUse wanted) {
    PreparedClaim there =
        new PreparedClaim(new ClaimRef("default", "there", "there"), PreparedClaim.Phase.COMPLETED, "",
            List.of(grant(present)), Map.of(), false);
    return Clash.between(List.of(grant(wanted)), new ClaimRef("default", "new", "new"), List.of(there)).isPresent();
  }

  private static Grant grant(CardUse use) {
    return new Grant(List.of("gpu"), "gpu-0", Optional.empty(), Grants.card(0), use);
  }
}
