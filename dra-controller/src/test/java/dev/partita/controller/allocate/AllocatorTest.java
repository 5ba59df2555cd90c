package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.NvlinkPeer;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import dev.partita.controller.request.PodNeeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AllocatorTest {
  private static final long GIB = GpuNodes.GIB;

  private final SmallCluster cluster = new SmallCluster();

  @Test
  void aShareGoesToTheFullestCardThatFits() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, 10 * GIB, 0);
    cluster.take("b", "node-0", 1, 90 * GIB, 0);
    cluster.take("c", "node-0", 2, 95 * GIB, 0);
    assertThat(cluster.placed(Requests.claim("x", Requests.share("gpu", 1, 8 * GIB, 0))))
        .containsExactly("gpu-1-shared on node-0");
  }

  @Test
  void aShareOpensNoUntouchedCardAsLongAsAnotherOneFits() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "Tesla T4", 16 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GIB));
    cluster.take("a", "node-1", 0, GIB, 0);
    assertThat(cluster.placed(Requests.claim("x", Requests.share("gpu", 1, 8 * GIB, 0))))
        .containsExactly("gpu-0-shared on node-1");
  }

  @Test
  void theSmallestCardIsOpenedFirst() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 1, "Tesla T4", 16 * GIB));
    assertThat(cluster.placed(Requests.claim("x", Requests.share("gpu", 1, 8 * GIB, 0))))
        .containsExactly("gpu-0-shared on node-1");
  }

  @Test
  void coresAreGuaranteedUpToAHundredACard() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, GIB, 70);
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", 1, GIB, 31))))
        .isEqualTo("0 of 1 card fits: 1 card on node-0: 30 % cores free of 31 % asked");
    assertThat(cluster.placed(Requests.claim("x", Requests.share("gpu", 1, GIB, 30))))
        .containsExactly("gpu-0-shared on node-0");
    assertThat(cluster.placed(Requests.claim("x", Requests.share("gpu", 1, GIB, 0))))
        .containsExactly("gpu-0-shared on node-0");
  }

  @Test
  void noMemoryAskedIsAllOfItAndSoNeedsAnEmptyCard() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    DeviceRequest all =
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.SHARED)), new Count.Exactly(1), OptionalLong.empty(),
            OptionalLong.empty());
    assertThat(
        ((Outcome.Allocated) cluster.allocate(Requests.claim("x", all))).claims().getFirst().devices().getFirst()
            .memory())
        .isEqualTo(100 * GIB);
    cluster.take("a", "node-0", 0, 1, 0);
    assertThat(cluster.refusal(Requests.claim("x", all))).contains("99.9 GiB free of 100 GiB asked");
  }

  @Test
  void percentIsOfEachCardsOwnMemory() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 1, "Tesla T4", 16 * GIB));
    assertThat(memoryOf(Requests.share("gpu", 1, 17 * GIB, 0))).isEqualTo(17 * GIB);
    cluster.take("a", "node-1", 0, 12 * GIB, 0);
    assertThat(memoryOf(Requests.percent("gpu", 1, 25, 0))).as("of the T4, which is begun").isEqualTo(4 * GIB);
    assertThat(memoryOf(Requests.percent("gpu", 1, 26, 0))).as("of the H200, since the T4 has 25 % left")
        .isEqualTo(26 * GIB);
    assertThat(memoryOf(Requests.percent("gpu", 1, 100, 0))).isEqualTo(100 * GIB);
    cluster.take("b", "node-0", 0, 60 * GIB, 0);
    assertThat(cluster.refusal(Requests.claim("x", Requests.percent("gpu", 1, 50, 0)))).contains(
        "40 GiB free of 50 GiB asked",
        "4 GiB free of 8 GiB asked");
  }

  @Test
  void percentsThatMakeAHundredFitOnACardWhateverItHas() {
    long odd = 143_168L * (1 << 20) + 12_345;
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", odd));
    int[] percents = {33, 33, 33, 1};
    for (int i = 0; i < percents.length; i++) {
      cluster.take("s" + i, "node-0", 0, memoryOf(Requests.percent("gpu", 1, percents[i], 0)), 0);
    }
    assertThat(cluster.refusal(Requests.claim("x", Requests.percent("gpu", 1, 1, 0))))
        .contains("free of 1.3 GiB asked");
  }

  @Test
  void aWholeCardHasNoPercent() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    DeviceRequest plain = Requests.whole("gpu", 1);
    DeviceRequest half =
        Requests.amounting(plain, new MemoryRequest.Percent(50), plain.cores());
    assertThat(cluster.refusal(Requests.claim("x", half))).contains("a whole card has no capacity memoryPercent");
  }

  @Test
  void aShareOnACardOfItsOwnKeepsItsLimitsAndLeavesNothingToOthers() {
    cluster.nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, GIB, 0);
    DeviceRequest alone = Requests.alone(Requests.share("gpu", 1, 8 * GIB, 25));
    Outcome.Allocated allocated = (Outcome.Allocated) cluster.allocate(Requests.claim("x", alone));
    ClaimPlacement placement = allocated.claims().getFirst();
    assertThat(placement.devices().getFirst().device()).hasToString("gpu-1-shared on node-0");
    assertThat(placement.devices().getFirst().memory()).isEqualTo(8 * GIB);
    assertThat(placement.devices().getFirst().cores()).isEqualTo(25);
    cluster.books.put("x", placement.bookings());
    assertThat(cluster.placed(Requests.claim("y", Requests.share("gpu", 1, GIB, 0))))
        .containsExactly("gpu-0-shared on node-0");
    assertThat(cluster.refusal(Requests.claim("y", alone))).contains("the whole card is asked for, but it has 1 share",
        "taken as a whole");
    assertThat(cluster.refusal(Requests.claim("y", Requests.share("gpu", 2, GIB, 0))))
        .contains("1 card on node-0: taken as a whole");
    cluster.books.remove("x");
    assertThat(cluster.placed(Requests.claim("y", Requests.share("a", 1, GIB, 0), alone)))
        .containsExactlyInAnyOrder("gpu-0-shared on node-0", "gpu-1-shared on node-0");
  }

  @Test
  void eightClaimsHaveACardInTurnABegunOneFirstAndNoShareIsBesideThem() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, GIB, 0);
    for (int i = 0; i < 8; i++) {
      cluster.books.put("turn" + i, turn(Requests.turns("gpu", 1), "gpu-1-shared on node-0"));
    }
    cluster.books.put("ninth", turn(Requests.turns("gpu", 1), "gpu-2-shared on node-0"));
    DeviceRequest large = Requests.share("gpu", 1, 100 * GIB, 0);
    assertThat(cluster.refusal(Requests.claim("y", large))).contains("99 GiB free of 100 GiB asked",
        "shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "shared by time-slicing among 8 devices of claims, whose memory and cores nothing limits");
    cluster.books.put("all", List.of(new Booking(new CardKey("node-0", 2), DeviceMode.WHOLE, 0, 0)));
    assertThat(cluster.refusal(Requests.claim("y", Requests.turns("gpu", 1)))).contains(
        "time-slicing is asked for, which limits nobody, but the card has 1 share with limits",
        "shared by time-slicing among 8 devices of claims already, the most that may be", "taken as a whole");
  }

  @Test
  void turnsThatAreSpreadGoWhereFewestAre() {
    cluster.nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB));
    DeviceRequest one = Requests.turns("gpu", 1);
    DeviceRequest spread = Requests.placed(one, one.placement().packed(Packing.SPREAD, Packing.SPREAD));
    cluster.books.put("1", turn(spread, "gpu-0-shared on node-0"));
    cluster.books.put("2", turn(spread, "gpu-1-shared on node-0"));
    cluster.books.put("3", turn(spread, "gpu-0-shared on node-0"));
    cluster.books.put("4", turn(spread, "gpu-1-shared on node-0"));
  }

  private List<Booking> turn(DeviceRequest request, String device) {
    Outcome.Allocated allocated = (Outcome.Allocated) cluster.allocate(Requests.claim("x", request));
    ClaimPlacement placement = allocated.claims().getFirst();
    assertThat(placement.devices()).singleElement().satisfies(its -> assertThat(its.device()).hasToString(device));
    assertThat(placement.bookings()).singleElement().matches(Booking::isTurn);
    return placement.bookings();
  }

  @Test
  void modelsAreChosenAndAvoided() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 1, "NVIDIA A100", 80 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-2", 1, "Tesla T4", 16 * GIB));
    DeviceRequest share = Requests.share("gpu", 1, GIB, 0);
    assertThat(cluster.placed(Requests.claim("x", Requests.on(share, Requests.choose("a100"), Choice.ANY))))
        .containsExactly("gpu-0-shared on node-1");
    assertThat(cluster.placed(Requests.claim("x", Requests.on(share, Requests.avoid("a100", "h200"), Choice.ANY))))
        .containsExactly("gpu-0-shared on node-2");
    DeviceRequest large = Requests.share("gpu", 1, 90 * GIB, 0);
    assertThat(cluster.refusal(Requests.claim("x", Requests.on(large, Requests.choose("a100", "l40"), Choice.ANY))))
        .contains("has 80 GiB, asked 90 GiB", "model is h200, asked a100 or l40", "model is t4, asked a100 or l40");
    assertThat(cluster.refusal(Requests.claim("x", Requests.on(large, Requests.avoid("h200"), Choice.ANY))))
        .contains("model is h200, which the claim avoids");
  }

  @Test
  void cardsAreChosenAndAvoidedByUuid() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 100 * GIB));
    DeviceRequest share = Requests.share("gpu", 1, GIB, 0);
    assertThat(cluster
        .placed(Requests.claim("x", Requests.on(share, Choice.ANY, Requests.choose("GPU-node-0-2", "GPU-gone")))))
        .containsExactly("gpu-2-shared on node-0");
    assertThat(cluster.placed(
        Requests.claim("x",
            Requests.on(share, Choice.ANY, Requests.avoid("GPU-node-0-0", "GPU-node-0-1", "GPU-node-1-0")))))
        .containsExactly("gpu-2-shared on node-0");
    assertThat(cluster
        .placed(Requests.claim("x", Requests.on(Requests.whole("gpu", 2), Choice.ANY, Requests.avoid("GPU-node-0-1")))))
        .containsExactlyInAnyOrder("gpu-0 on node-0", "gpu-2 on node-0");
    assertThat(cluster.refusal(Requests.claim("x", Requests.on(share, Choice.ANY, Requests.choose("GPU-gone")))))
        .contains("4 cards on 2 nodes: not one of the UUIDs that the claim chooses");
    DeviceRequest both = Requests.on(Requests.share("gpu", 3, GIB, 0), Choice.ANY, Requests.avoid("GPU-node-0-1"));
    assertThat(cluster.refusal(Requests.claim("x", both)))
        .contains("1 card on node-0: UUID is one that the claim avoids");
  }

  @Test
  void allMeansThoseThatAreChosen() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    DeviceRequest all =
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.SHARED)), new Count.All(), OptionalLong.of(GIB),
            OptionalLong.empty());
    assertThat(cluster.placed(Requests.claim("x", Requests.on(all, Choice.ANY, Requests.avoid("GPU-node-0-1")))))
        .hasSize(2);
    cluster.take("a", "node-0", 0, GIB, 0);
    assertThat(cluster.placed(Requests.claim("x", all))).hasSize(3);
    assertThat(cluster.refusal(Requests.claim("x", Requests.alone(all))))
        .contains("the whole card is asked for, but it has 1 share");
  }

  @Test
  void onlyAShareOversubscribes() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    assertThat(cluster.refusal(Requests.claim("x", oversubscribed(Requests.whole("gpu", 1)))))
        .contains("a whole card cannot oversubscribe: only a share of a card can");
    assertThat(memoryOf(oversubscribed(Requests.share("gpu", 1, GIB, 0)))).as("what it takes of the card")
        .isEqualTo(GIB);
  }

  private static DeviceRequest oversubscribed(DeviceRequest request) {
    return Requests.oversubscribed(request, 150);
  }

  private long memoryOf(DeviceRequest request) {
    return ((Outcome.Allocated) cluster.allocate(Requests.claim("x", request))).claims().getFirst().devices().getFirst()
        .memory();
  }

  @Test
  void aWholeCardIsAnUntouchedOne() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, GIB, 0);
    cluster.books.put("b", List.of(new Booking(new CardKey("node-0", 1), DeviceMode.WHOLE, 0, 0)));
    assertThat(cluster.placed(Requests.claim("x", Requests.whole("gpu", 1)))).containsExactly("gpu-2 on node-0");
    assertThat(cluster.refusal(Requests.claim("x", Requests.whole("gpu", 2))))
        .startsWith("1 of 3 cards fit: ")
        .contains("1 card on node-0: the whole card is asked for, but it has 1 share")
        .contains("1 card on node-0: taken as a whole")
        .contains("2 wanted on one node by request gpu, 1 fit there");
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", 1, 100 * GIB, 0)), 1))
        .contains("taken as a whole");
  }

  @Test
  void resultsOfOneRequestAreOnDifferentCards() {
    cluster.nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB));
    assertThat(cluster.placed(Requests.claim("x", Requests.share("gpu", 2, GIB, 0))))
        .containsExactlyInAnyOrder("gpu-0-shared on node-0", "gpu-1-shared on node-0");
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", 3, GIB, 0))))
        .contains("3 wanted on one node by request gpu, 2 fit there");
  }

  @Test
  void differentRequestsMayShareACardAndAreCountedTogether() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    assertThat(
        cluster.placed(Requests.claim("x", Requests.share("a", 1, 60 * GIB, 0), Requests.share("b", 1, 40 * GIB, 0))))
        .hasSize(2);
    assertThat(
        cluster.refusal(Requests.claim("x", Requests.share("a", 1, 60 * GIB, 0), Requests.share("b", 1, 41 * GIB, 0))))
        .isEqualTo("0 of 1 card fits: 1 card on node-0: each request fits, but not all of them together");
  }

  @Test
  void allClaimsOfAPodAreOnOneNode() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 2, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, 50 * GIB, 0);
    assertThat(
        cluster.placed(Requests.claim("x", Requests.share("gpu", 1, 30 * GIB, 0)),
            Requests.claim("y", Requests.whole("gpu", 1))))
        .allSatisfy(device -> assertThat(device).endsWith("on node-1"));
  }

  @Test
  void aScarceCardIsLeftToTheRequestThatNeedsIt() {
    var mixed = new ArrayList<>(GpuNodes.cards("node-0", 1, "NVIDIA H200", 100 * GIB));
    mixed.add(GpuNodes.card("node-0", 1, "Tesla T4", 16 * GIB, GpuHealth.HEALTHY));
    cluster.nodes.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, mixed));
    // By itself, "any" would take the smaller card.
    ClaimRequest claim =
        Requests.claim("x", Requests.share("any", 1, 16 * GIB, 0), Requests.share("t4", "t4", 16 * GIB));
    assertThat(cluster.placed(claim)).containsExactly("gpu-0-shared on node-0", "gpu-1-shared on node-0");
  }

  @Test
  void allMeansEveryCardOfTheNode() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    DeviceRequest all =
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.WHOLE)), new Count.All(), OptionalLong.empty(),
            OptionalLong.empty());
    assertThat(cluster.placed(Requests.claim("x", all))).hasSize(3);
    cluster.take("a", "node-0", 1, GIB, 0);
    assertThat(cluster.refusal(Requests.claim("x", all))).contains("has 1 share");
  }

  @Test
  void allSharesAreThoseOfCardsThatHaveTheCapacityLeft() {
    var mixed = new ArrayList<>(GpuNodes.cards("node-0", 2, "NVIDIA H200", 100 * GIB));
    mixed.add(GpuNodes.card("node-0", 2, "Tesla T4", 16 * GIB, GpuHealth.HEALTHY));
    cluster.nodes.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, mixed));
    DeviceRequest all =
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.SHARED)), new Count.All(), OptionalLong.of(40 * GIB),
            OptionalLong.of(50));
    cluster.take("a", "node-0", 0, GIB, 60);
    assertThat(cluster.placed(Requests.claim("x", all))).containsExactly("gpu-1-shared on node-0");
    cluster.take("b", "node-0", 1, 61 * GIB, 0);
    assertThat(cluster.refusal(Requests.claim("x", all))).contains("40 % cores free of 50 % asked");
  }

  @Test
  void allSharesNeedAlsoTheCardThatIsTakenAsAWhole() {
    cluster.nodes.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB));
    DeviceRequest all =
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.SHARED)), new Count.All(), OptionalLong.of(GIB),
            OptionalLong.empty());
    cluster.books.put("a", List.of(new Booking(new CardKey("node-0", 0), DeviceMode.WHOLE, 0, 0)));
    assertThat(cluster.refusal(Requests.claim("x", all))).contains("taken as a whole");
  }

  @Test
  void matchAttributeKeepsCardsTogetherAndDistinctAttributeApart() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    cluster.take("a", "node-0", 0, GIB, 0);
    var sameNuma = List.<Constraint>of(new Constraint.Equal("resource.kubernetes.io/numaNode", List.of()));
    assertThat(cluster.placed(Requests.claim("x", sameNuma, Requests.whole("gpu", 4))))
        .containsExactlyInAnyOrder("gpu-4 on node-0", "gpu-5 on node-0", "gpu-6 on node-0", "gpu-7 on node-0");
    assertThat(cluster.refusal(Requests.claim("x", sameNuma, Requests.whole("gpu", 5))))
        .contains("not all of them together under the claim's constraints");
    var apart = List.<Constraint>of(new Constraint.Distinct("gpu.partita.dev/nvlinkDomain", List.of()));
    assertThat(cluster.placed(Requests.claim("x", apart, Requests.whole("gpu", 3)))).hasSize(3);
    assertThat(cluster.refusal(Requests.claim("x", apart, Requests.whole("gpu", 5))))
        .contains("under the claim's constraints");
    var unknown = List.<Constraint>of(new Constraint.Equal("gpu.partita.dev/colour", List.of()));
    assertThat(cluster.refusal(Requests.claim("x", unknown, Requests.whole("gpu", 1))))
        .contains("under the claim's constraints");
  }

  @Test
  void theFirstAlternativeThatCanBeMetIsTaken() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    cluster.nodes.add(GpuNodes.ready("node-1", 1, "NVIDIA A100", 80 * GIB));
    NamedRequest request =
        new NamedRequest("gpu",
            List.of(Requests.share("gpu/b200", "b200", GIB), Requests.share("gpu/a100", "a100", GIB),
                Requests.share("gpu/h200", "h200", GIB)));
    ClaimRequest claim = new ClaimRequest(new ClaimRef("default", "x", "uid"), List.of(request), List.of());
    Outcome.Allocated allocated = (Outcome.Allocated) cluster.allocate(claim);
    assertThat(allocated.node()).isEqualTo("node-1");
    assertThat(allocated.claims().getFirst().devices().getFirst().request().name()).isEqualTo("gpu/a100");
  }

  @Test
  void anUnhealthyCardIsNotUsedUnlessItsTaintIsTolerated() {
    Gpu lost = GpuNodes.card("node-0", 0, "NVIDIA H200", 100 * GIB, GpuHealth.unhealthy("GpuIsLost", ""));
    cluster.nodes.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(lost)));
    assertThat(cluster.refusal(Requests.claim("x", Requests.share("gpu", 1, GIB, 0))))
        .contains("taint gpu.partita.dev/unhealthy=GpuIsLost");
    DeviceRequest plain = Requests.share("gpu", 1, GIB, 0);
    var everything = new DeviceRequest.Toleration(Optional.empty(), Optional.empty(), Optional.empty());
    DeviceRequest tolerant =
        Requests.tolerating(plain, everything);
    assertThat(cluster.placed(Requests.claim("x", tolerant))).hasSize(1);
  }

  /** In these nodes pairs of cards are linked, and four cards are on a NUMA node. */
  @Test
  void cardsThatBelongTogetherAreTakenFromTheSmallestGroupThatWillDo() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    cluster.takeWhole("a", "node-0", 1);
    assertThat(cluster.placed(Requests.claim("pair", Requests.whole("gpu", 2)))).containsExactly("gpu-2 on node-0",
        "gpu-3 on node-0");
    assertThat(cluster.placed(Requests.claim("one", Requests.whole("gpu", 1)))).as("a pair that is broken already")
        .containsExactly("gpu-0 on node-0");
    assertThat(cluster.placed(Requests.claim("four", Requests.whole("gpu", 4))))
        .as("no link is that wide: one NUMA node")
        .containsExactlyInAnyOrder("gpu-4 on node-0", "gpu-5 on node-0", "gpu-6 on node-0", "gpu-7 on node-0");
    assertThat(cluster.placed(Requests.claim("six", Requests.whole("gpu", 6)))).as("no group at all is that large")
        .hasSize(6);
  }

  @Test
  void cardsThatMustBelongTogetherAreTakenFromTheSmallestGroupThatWillDo() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    cluster.takeWhole("a", "node-0", 4); // of this NUMA node three are left, of the other one four
    Placement near = new Placement(Packing.AUTO, Packing.AUTO, Affinity.REQUIRED, Affinity.NONE);
    DeviceRequest two = Requests.placed(Requests.whole("gpu", 2), near);
    Constraint sameNode = new Constraint.Equal("resource.kubernetes.io/numaNode", List.of());
    assertThat(cluster.placed(Requests.claim("two", List.of(sameNode), two))).containsExactly("gpu-5 on node-0",
        "gpu-6 on node-0");
  }

  /**
   * The links of the eight cards of a DGX-1 with V100, where no switch joins them: pairs have two links, one, or none.
   */
  private static final int[][] MESH = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
    {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}
  };

  private static GpuNode mesh(String name) {
    GpuNode node = GpuNodes.ready(name, 8, "Tesla V100", 32 * GIB);
    List<Gpu> cards =
        node.getStatus().gpus().stream().map(gpu -> gpu.withTopology(meshed(gpu.index(), gpu.topology()))).toList();
    return GpuNodes.ready(name, GpuNodeSpec.DEFAULT, cards);
  }

  private static GpuTopology meshed(int index, GpuTopology at) {
    List<NvlinkPeer> peers =
        IntStream.range(0, 8).filter(i -> MESH[index][i] > 0).mapToObj(i -> new NvlinkPeer(i, MESH[index][i])).toList();
    return new GpuTopology(at.pciBusId(), at.pcieRoot(), at.numaNode(), "mesh", peers);
  }

  @Test
  void cardsOfADomainWithoutSwitchesAreThoseWithMostLinksAmongThem() {
    cluster.nodes.add(mesh("node-0"));
    cluster.takeWhole("a", "node-0", 0);
    assertThat(cluster.placed(Requests.claim("pair", Requests.whole("gpu", 2))))
        .as("two links, and the fewest to others")
        .containsExactlyInAnyOrder("gpu-2 on node-0", "gpu-3 on node-0");
    assertThat(cluster.placed(Requests.claim("four", Requests.whole("gpu", 4))))
        .as("the half that is whole")
        .containsExactlyInAnyOrder("gpu-4 on node-0", "gpu-5 on node-0", "gpu-6 on node-0", "gpu-7 on node-0");
    assertThat(cluster.placed(Requests.claim("one", Requests.whole("gpu", 1))))
        .as("from which the fewest links lead to those that are left").containsExactly("gpu-3 on node-0");
  }

  @Test
  void requestsOfOneClaimTakeAGroupTogether() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    cluster.takeWhole("a", "node-0", 1);
    assertThat(cluster.placed(Requests.claim("two", Requests.whole("a", 1), Requests.whole("b", 1))))
        .as("not the half of a pair, and one of another")
        .containsExactly("gpu-2 on node-0", "gpu-3 on node-0");
  }

  @Test
  void whereTheForecastDecidesTheNodeACardIsStillTakenFromTheSmallestGroup() {
    cluster.nodes.add(GpuNodes.ready("node-0", 8, "NVIDIA H200", 100 * GIB));
    cluster.takeWhole("a", "node-0", 5);
    PodNeeds needs = new PodNeeds(1_000, GIB);
    assertThat(cluster.expecting(needs, Requests.claim("one", Requests.whole("gpu", 1))))
        .as("a pair that is broken already")
        .containsExactly("gpu-4 on node-0");
  }

  @Test
  void hostsWithTheSameUntouchedCardsAreNotTheSameToShares() {
    for (String node : List.of("node-0", "node-1")) {
      cluster.nodes.add(GpuNodes.ready(node, 8, "NVIDIA H200", 100 * GIB));
      for (int card = 0; card < 8; card++) {
        boolean open = card == 0 || (node.equals("node-0") ? card == 4 : card == 1); // far apart, near
        cluster.take(node + card, node, card, open ? 10 * GIB : 95 * GIB, 0);
      }
    }
    Constraint sameNode = new Constraint.Equal("resource.kubernetes.io/numaNode", List.of());
    ClaimRequest two = Requests.claim("two", List.of(sameNode), Requests.share("gpu", 2, 50 * GIB, 0));
    assertThat(cluster.expecting(new PodNeeds(1_000, GIB), two)).containsExactlyInAnyOrder("gpu-0-shared on node-1",
        "gpu-1-shared on node-1");
  }

  @Test
  void whoOnlyLooksGetsCardsWhateverIsTakenOfThemAndTakesNothing() {
    cluster.nodes.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 100 * GIB));
    cluster.takeWhole("a", "node-0", 0);
    cluster.take("b", "node-0", 1, 100 * GIB, 100);
    ClaimRequest one = Requests.claim("one", Requests.monitor(Requests.whole("gpu", 3)));
    assertThat(cluster.placed(one)).containsExactly("gpu-0 on node-0", "gpu-1 on node-0", "gpu-2 on node-0");
    ClaimRequest all =
        Requests.claim("all", Requests.monitor(Requests.request("gpu", List.of(Requests.mode(DeviceMode.SHARED)),
            new Count.All(), OptionalLong.empty(), OptionalLong.empty())));
    assertThat(cluster.placed(all)).containsExactlyInAnyOrder("gpu-0-shared on node-0", "gpu-1-shared on node-0",
        "gpu-2-shared on node-0");
    Outcome.Allocated both = (Outcome.Allocated) cluster.allocate(one, Requests.claim("use", Requests.whole("gpu", 1)));
    assertThat(both.claims()).extracting(ClaimPlacement::bookings).containsExactly(
        List.of(), List.of(new Booking(new CardKey("node-0", 2), DeviceMode.WHOLE, 0, 0)));
  }

  @Test
  void whoOnlyLooksIsHeldToSelectorsAndToWhatACardHas() {
    cluster.nodes.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GIB));
    assertThat(cluster.refusal(Requests.claim("x", Requests.monitor(Requests.share("gpu", "a100", GIB)))))
        .contains("model is h200, asked a100");
    assertThat(cluster.refusal(Requests.claim("x", Requests.monitor(Requests.share("gpu", 1, 200 * GIB, 0)))))
        .contains("has 100 GiB, asked 200 GiB");
    assertThat(cluster.refusal(Requests.claim("x", Requests.monitor(Requests.whole("gpu", 2)))))
        .contains("2 wanted on one node");
  }
}
