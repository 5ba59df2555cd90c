package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.allocate.ClaimAsk.RequestAsk;
import dev.partita.controller.allocate.DeviceAsk.Count;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class AllocatorTest {
  private static final long GIB = GpuNodes.GIB;

  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private final Books books = new Books();
  private final List<GpuNode> nodes = new ArrayList<>();

  @Test
  void aShareGoesToTheFullestCardThatFits() {
    nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    take("a", "node-0", 0, 10 * GIB, 0);
    take("b", "node-0", 1, 90 * GIB, 0);
    take("c", "node-0", 2, 95 * GIB, 0);
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 1, 8 * GIB, 0)))).containsExactly("gpu-1-shared on node-0");
  }

  @Test
  void aShareOpensNoUntouchedCardAsLongAsAnotherOneFits() {
    nodes.add(GpuNodes.ready("node-0", 1, "Tesla T4", 16 * GIB));
    nodes.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GIB));
    take("a", "node-1", 0, GIB, 0);
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 1, 8 * GIB, 0)))).containsExactly("gpu-0-shared on node-1");
  }

  @Test
  void theSmallestCardIsOpenedFirst() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GIB));
    nodes.add(GpuNodes.ready("node-1", 1, "Tesla T4", 16 * GIB));
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 1, 8 * GIB, 0)))).containsExactly("gpu-0-shared on node-1");
  }

  @Test
  void coresAreGuaranteedUpToAHundredACard() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    take("a", "node-0", 0, GIB, 70);
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", 1, GIB, 31)))).isEqualTo("0 of 1 card fits: 1 card on node-0: 30 % cores free of 31 % asked");
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 1, GIB, 30)))).containsExactly("gpu-0-shared on node-0");
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 1, GIB, 0)))).containsExactly("gpu-0-shared on node-0");
  }

  @Test
  void noMemoryAskedIsAllOfItAndSoNeedsAnEmptyCard() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    DeviceAsk all =
        Asks.ask("gpu", List.of(Asks.mode(DeviceMode.SHARED)), new Count.Exactly(1), OptionalLong.empty(), OptionalLong.empty());
    assertThat(((Outcome.Allocated) allocate(Asks.claim("x", all))).claims().getFirst().devices().getFirst().memory())
        .isEqualTo(100 * GIB);
    take("a", "node-0", 0, 1, 0);
    assertThat(refusal(Asks.claim("x", all))).contains("99.9 GiB free of 100 GiB asked");
  }

  @Test
  void percentIsOfEachCardsOwnMemory() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    nodes.add(GpuNodes.ready("node-1", 1, "Tesla T4", 16 * GIB));
    assertThat(memoryOf(Asks.share("gpu", 1, 17 * GIB, 0))).isEqualTo(17 * GIB);
    take("a", "node-1", 0, 12 * GIB, 0);
    assertThat(memoryOf(Asks.percent("gpu", 1, 25, 0))).as("of the T4, which is begun").isEqualTo(4 * GIB);
    assertThat(memoryOf(Asks.percent("gpu", 1, 26, 0))).as("of the H200, since the T4 has 25 % left").isEqualTo(26 * GIB);
    assertThat(memoryOf(Asks.percent("gpu", 1, 100, 0))).isEqualTo(100 * GIB);
    take("b", "node-0", 0, 60 * GIB, 0);
    assertThat(refusal(Asks.claim("x", Asks.percent("gpu", 1, 50, 0)))).contains("40 GiB free of 50 GiB asked", "4 GiB free of 8 GiB asked");
  }

  @Test
  void percentsThatMakeAHundredFitOnACardWhateverItHas() {
    long odd = 143_168L * (1 << 20) + 12_345;
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", odd));
    int[] percents = {33, 33, 33, 1};
    for (int i = 0; i < percents.length; i++) {
      take("s" + i, "node-0", 0, memoryOf(Asks.percent("gpu", 1, percents[i], 0)), 0);
    }
    assertThat(refusal(Asks.claim("x", Asks.percent("gpu", 1, 1, 0)))).contains("free of 1.3 GiB asked");
  }

  @Test
  void aWholeCardHasNoPercent() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    DeviceAsk plain = Asks.whole("gpu", 1);
    DeviceAsk half =
        new DeviceAsk("gpu", plain.selectors(), plain.count(), new MemoryAsk.Percent(50), plain.cores(), plain.tolerations(), plain.placement());
    assertThat(refusal(Asks.claim("x", half))).contains("a whole card has no capacity memoryPercent");
  }

  private long memoryOf(DeviceAsk ask) {
    return ((Outcome.Allocated) allocate(Asks.claim("x", ask))).claims().getFirst().devices().getFirst().memory();
  }

  @Test
  void aWholeCardIsAnUntouchedOne() {
    nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    take("a", "node-0", 0, GIB, 0);
    books.put("b", List.of(new Booking(new CardKey("node-0", 1), DeviceMode.WHOLE, 0, 0)));
    assertThat(placed(Asks.claim("x", Asks.whole("gpu", 1)))).containsExactly("gpu-2 on node-0");
    assertThat(refusal(Asks.claim("x", Asks.whole("gpu", 2))))
        .startsWith("1 of 3 cards fit: ")
        .contains("1 card on node-0: asked whole, has 1 share")
        .contains("1 card on node-0: taken as a whole")
        .contains("2 wanted on one node by request gpu, 1 fit there");
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", 1, 100 * GIB, 0)), 1)).contains("taken as a whole");
  }

  @Test
  void resultsOfOneRequestAreOnDifferentCards() {
    nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB));
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 2, GIB, 0))))
        .containsExactlyInAnyOrder("gpu-0-shared on node-0", "gpu-1-shared on node-0");
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", 3, GIB, 0)))).contains("3 wanted on one node by request gpu, 2 fit there");
  }

  @Test
  void differentRequestsMayShareACardAndAreCountedTogether() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    assertThat(placed(Asks.claim("x", Asks.share("a", 1, 60 * GIB, 0), Asks.share("b", 1, 40 * GIB, 0)))).hasSize(2);
    assertThat(refusal(Asks.claim("x", Asks.share("a", 1, 60 * GIB, 0), Asks.share("b", 1, 41 * GIB, 0))))
        .isEqualTo("0 of 1 card fits: 1 card on node-0: each request fits, but not all of them together");
  }

  @Test
  void allClaimsOfAPodAreOnOneNode() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    nodes.add(GpuNodes.ready("node-1", 2, "NVIDIA H200", 100 * GIB));
    take("a", "node-0", 0, 50 * GIB, 0);
    assertThat(placed(Asks.claim("x", Asks.share("gpu", 1, 30 * GIB, 0)), Asks.claim("y", Asks.whole("gpu", 1))))
        .allSatisfy(device -> assertThat(device).endsWith("on node-1"));
  }

  @Test
  void aScarceCardIsLeftToTheRequestThatNeedsIt() {
    var mixed = new ArrayList<>(GpuNodes.cards("node-0", 1, "NVIDIA H200", 100 * GIB));
    mixed.add(GpuNodes.card("node-0", 1, "Tesla T4", 16 * GIB, GpuHealth.HEALTHY));
    nodes.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, mixed));
    // By itself, "any" would take the smaller card.
    ClaimAsk claim = Asks.claim("x", Asks.share("any", 1, 16 * GIB, 0), Asks.share("t4", "t4", 16 * GIB));
    assertThat(placed(claim)).containsExactly("gpu-0-shared on node-0", "gpu-1-shared on node-0");
  }

  @Test
  void allMeansEveryCardOfTheNode() {
    nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    DeviceAsk all = Asks.ask("gpu", List.of(Asks.mode(DeviceMode.WHOLE)), new Count.All(), OptionalLong.empty(), OptionalLong.empty());
    assertThat(placed(Asks.claim("x", all))).hasSize(3);
    take("a", "node-0", 1, GIB, 0);
    assertThat(refusal(Asks.claim("x", all))).contains("has 1 share");
  }

  @Test
  void allSharesAreThoseOfCardsThatHaveTheCapacityLeft() {
    var mixed = new ArrayList<>(GpuNodes.cards("node-0", 2, "NVIDIA H200", 100 * GIB));
    mixed.add(GpuNodes.card("node-0", 2, "Tesla T4", 16 * GIB, GpuHealth.HEALTHY));
    nodes.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, mixed));
    DeviceAsk all = Asks.ask("gpu", List.of(Asks.mode(DeviceMode.SHARED)), new Count.All(), OptionalLong.of(40 * GIB), OptionalLong.of(50));
    take("a", "node-0", 0, GIB, 60);
    assertThat(placed(Asks.claim("x", all))).containsExactly("gpu-1-shared on node-0");
    take("b", "node-0", 1, 61 * GIB, 0);
    assertThat(refusal(Asks.claim("x", all))).contains("40 % cores free of 50 % asked");
  }

  @Test
  void allSharesNeedAlsoTheCardThatIsTakenAsAWhole() {
    nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB));
    DeviceAsk all = Asks.ask("gpu", List.of(Asks.mode(DeviceMode.SHARED)), new Count.All(), OptionalLong.of(GIB), OptionalLong.empty());
    books.put("a", List.of(new Booking(new CardKey("node-0", 0), DeviceMode.WHOLE, 0, 0)));
    assertThat(refusal(Asks.claim("x", all))).contains("taken as a whole");
  }

  @Test
  void matchAttributeKeepsCardsTogetherAndDistinctAttributeApart() {
    nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    take("a", "node-0", 0, GIB, 0);
    var sameNuma = List.<Constraint>of(new Constraint.Match("resource.kubernetes.io/numaNode", List.of()));
    assertThat(placed(Asks.claim("x", sameNuma, Asks.whole("gpu", 4))))
        .containsExactlyInAnyOrder("gpu-4 on node-0", "gpu-5 on node-0", "gpu-6 on node-0", "gpu-7 on node-0");
    assertThat(refusal(Asks.claim("x", sameNuma, Asks.whole("gpu", 5)))).contains("not all of them together under the claim's constraints");
    var apart = List.<Constraint>of(new Constraint.Distinct("gpu.partita.dev/nvlinkDomain", List.of()));
    assertThat(placed(Asks.claim("x", apart, Asks.whole("gpu", 3)))).hasSize(3);
    assertThat(refusal(Asks.claim("x", apart, Asks.whole("gpu", 5)))).contains("under the claim's constraints");
    var unknown = List.<Constraint>of(new Constraint.Match("gpu.partita.dev/colour", List.of()));
    assertThat(refusal(Asks.claim("x", unknown, Asks.whole("gpu", 1)))).contains("under the claim's constraints");
  }

  @Test
  void theFirstAlternativeThatCanBeMetIsTaken() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    nodes.add(GpuNodes.ready("node-1", 1, "NVIDIA A100", 80 * GIB));
    RequestAsk request =
        new RequestAsk("gpu", List.of(Asks.share("gpu/b200", "b200", GIB), Asks.share("gpu/a100", "a100", GIB), Asks.share("gpu/h200", "h200", GIB)));
    ClaimAsk claim = new ClaimAsk(new ClaimRef("default", "x", "uid"), List.of(request), List.of());
    Outcome.Allocated allocated = (Outcome.Allocated) allocate(claim);
    assertThat(allocated.node()).isEqualTo("node-1");
    assertThat(allocated.claims().getFirst().devices().getFirst().request().name()).isEqualTo("gpu/a100");
  }

  @Test
  void anUnhealthyCardIsNotUsedUnlessItsTaintIsTolerated() {
    Gpu lost = GpuNodes.card("node-0", 0, "NVIDIA H200", 100 * GIB, GpuHealth.unhealthy("GpuIsLost", ""));
    nodes.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(lost)));
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", 1, GIB, 0)))).contains("taint gpu.partita.dev/unhealthy=GpuIsLost");
    DeviceAsk plain = Asks.share("gpu", 1, GIB, 0);
    var everything = new DeviceAsk.Toleration(Optional.empty(), Optional.empty(), Optional.empty());
    DeviceAsk tolerant =
        new DeviceAsk("gpu", plain.selectors(), plain.count(), plain.memory(), plain.cores(), List.of(everything), plain.placement());
    assertThat(placed(Asks.claim("x", tolerant))).hasSize(1);
  }

  @Test
  void reasonsAreFoldedAndSpeakOfModelsAndMemory() {
    nodes.add(GpuNodes.ready("node-0", 4, "NVIDIA H200", 100 * GIB));
    nodes.add(GpuNodes.ready("node-1", 4, "NVIDIA A100", 80 * GIB));
    for (int i = 0; i < 4; i++) {
      take("a" + i, "node-0", i, 94 * GIB, 0);
    }
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", "h200", 8 * GIB))))
        .isEqualTo(
            "0 of 8 cards fit: 4 cards on node-0: 6 GiB free of 8 GiB asked; 4 cards on node-1: model is a100, asked h200");
  }

  @Test
  void whatNoCardCanEverGiveIsSaidFirst() {
    nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GIB));
    nodes.add(GpuNodes.ready("node-1", 2, "NVIDIA A100", 80 * GIB));
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", 1, 200 * GIB, 0))))
        .startsWith("asks 200 GiB; the largest a100 has 80 GiB, the largest h200 has 140 GiB; 0 of 4 cards fit");
    assertThat(refusal(Asks.claim("x", Asks.share("gpu", 1, GIB, 150)))).startsWith("asks 150 % cores; a card has 100 %; 0 of 4 cards fit");
  }

  @Test
  void withoutAnyNodeItSaysSo() {
    assertThat(refusal(Asks.claim("x", Asks.whole("gpu", 1)))).isEqualTo("no node reports GPUs (no GpuNode)");
  }

  @Test
  void aLongExplanationKeepsToItsLength() {
    for (int i = 0; i < 200; i++) {
      nodes.add(GpuNodes.ready("node-" + i, 1, "NVIDIA H200", 100 * GIB));
      take("a" + i, "node-" + i, 0, (90L << 30) + ((long) i << 27), 0);
    }
    Outcome.Unallocatable outcome = (Outcome.Unallocatable) allocate(Asks.claim("x", Asks.share("gpu", 1, 50 * GIB, 0)));
    assertThat(outcome.explanation().summary(300)).hasSizeLessThanOrEqualTo(300).contains("more reasons");
  }

  @Test
  void sixteenOfFifteenIsNoSearch() {
    nodes.add(GpuNodes.ready("node-0", 16, "NVIDIA H200", 100 * GIB));
    take("a", "node-0", 0, GIB, 0);
    long start = System.nanoTime();
    assertThat(refusal(Asks.claim("x", Asks.whole("gpu", 16)))).contains("16 wanted on one node");
    assertThat(System.nanoTime() - start).isLessThan(2_000_000_000L);
  }

  /** In these nodes pairs of cards are linked, and four cards are on a NUMA node. */
  @Test
  void cardsThatBelongTogetherAreTakenFromTheSmallestGroupThatWillDo() {
    nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    takeWhole("a", "node-0", 1);
    assertThat(placed(Asks.claim("pair", Asks.whole("gpu", 2)))).containsExactly("gpu-2 on node-0", "gpu-3 on node-0");
    assertThat(placed(Asks.claim("one", Asks.whole("gpu", 1)))).as("a pair that is broken already").containsExactly("gpu-0 on node-0");
    assertThat(placed(Asks.claim("four", Asks.whole("gpu", 4))))
        .as("no link is that wide: one NUMA node")
        .containsExactlyInAnyOrder("gpu-4 on node-0", "gpu-5 on node-0", "gpu-6 on node-0", "gpu-7 on node-0");
    assertThat(placed(Asks.claim("six", Asks.whole("gpu", 6)))).as("no group at all is that large").hasSize(6);
  }

  @Test
  void whoOnlyLooksGetsCardsWhateverIsTakenOfThemAndTakesNothing() {
    nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    takeWhole("a", "node-0", 0);
    take("b", "node-0", 1, 100 * GIB, 100);
    ClaimAsk one = Asks.claim("one", Asks.monitor(Asks.whole("gpu", 3)));
    assertThat(placed(one)).containsExactly("gpu-0 on node-0", "gpu-1 on node-0", "gpu-2 on node-0");
    ClaimAsk all = Asks.claim("all", Asks.monitor(Asks.ask("gpu", List.of(Asks.mode(DeviceMode.SHARED)), new Count.All(), OptionalLong.empty(), OptionalLong.empty())));
    assertThat(placed(all)).containsExactlyInAnyOrder("gpu-0-shared on node-0", "gpu-1-shared on node-0", "gpu-2-shared on node-0");
    Outcome.Allocated both = (Outcome.Allocated) allocate(one, Asks.claim("use", Asks.whole("gpu", 1)));
    assertThat(both.claims()).extracting(Outcome.ClaimPlacement::bookings).containsExactly(
        List.of(), List.of(new Booking(new CardKey("node-0", 2), DeviceMode.WHOLE, 0, 0)));
  }

  @Test
  void whoOnlyLooksIsHeldToSelectorsAndToWhatACardHas() {
    nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    assertThat(refusal(Asks.claim("x", Asks.monitor(Asks.share("gpu", "a100", GIB))))).contains("model is h200, asked a100");
    assertThat(refusal(Asks.claim("x", Asks.monitor(Asks.share("gpu", 1, 200 * GIB, 0))))).contains("has 100 GiB, asked 200 GiB");
    assertThat(refusal(Asks.claim("x", Asks.monitor(Asks.whole("gpu", 2))))).contains("2 wanted on one node");
  }

  private void takeWhole(String claim, String node, int card) {
    books.put(claim, List.of(new Booking(new CardKey(node, card), DeviceMode.WHOLE, 0, 0)));
  }

  private void take(String claim, String node, int card, long memory, int cores) {
    books.put(claim, List.of(new Booking(new CardKey(node, card), DeviceMode.SHARED, memory, cores)));
  }

  private Outcome allocate(ClaimAsk... claims) {
    Inventory inventory = Inventory.EMPTY.refreshed(nodes);
    FreeCards cards = new FreeCards(books);
    cards.refresh(inventory);
    return allocator.allocate(PodNeeds.NONE, List.of(claims), host -> Optional.empty(), cards);
  }

  private List<String> placed(ClaimAsk... claims) {
    Outcome outcome = allocate(claims);
    assertThat(outcome).isInstanceOf(Outcome.Allocated.class);
    return ((Outcome.Allocated) outcome).claims().stream().flatMap(c -> c.devices().stream()).map(d -> d.device().toString()).toList();
  }

  private String refusal(ClaimAsk claim) {
    return refusal(claim, 0);
  }

  private String refusal(ClaimAsk claim, int moreCardsTaken) {
    for (int i = 0; i < moreCardsTaken; i++) {
      books.put("more" + i, List.of(new Booking(new CardKey("node-0", 2 + i), DeviceMode.WHOLE, 0, 0)));
    }
    Outcome outcome = allocate(claim);
    assertThat(outcome).isInstanceOf(Outcome.Unallocatable.class);
    return ((Outcome.Unallocatable) outcome).explanation().summary(900);
  }
}
