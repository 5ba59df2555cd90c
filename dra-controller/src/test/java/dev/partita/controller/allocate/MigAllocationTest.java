package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MigAllocationTest {
  private static final List<PublishedMode> ALL_MODES = List.of(PublishedMode.values());

  private final MigCluster cluster = new MigCluster(node("node-0", 2));

  /** An allocator with its books. */
  private static final class MigCluster {
    private final Inventory inventory;
    private final Books books = new Books();
    private final FreeCards cards = new FreeCards(books);
    private final dev.partita.controller.allocate.Allocator allocator =
        new dev.partita.controller.allocate.Allocator(new DeviceSelectors());

    MigCluster(GpuNode... nodes) {
      inventory = Inventory.EMPTY.refreshed(List.of(nodes));
    }

    /** Names of the devices, or why there are none. */
    List<String> take(ClaimRequest claim) {
      cards.refresh(inventory);
      return switch (allocator.allocate(PodNeeds.NONE, List.of(claim), host -> Optional.empty(), cards)) {
        case Outcome.Allocated allocated -> {
          ClaimPlacement placement = allocated.claims().getFirst();
          books.put(claim.claim().uid(), placement.bookings());
          yield placement.devices().stream().map(device -> device.device().name().toString()).toList();
        }
        case Outcome.Unallocatable none -> List.of(none.explanation().summary(2_000));
      };
    }

    Account account(int card) {
      return books.of(new CardKey("node-0", card));
    }
  }

  @Test
  void aProfileGetsThePlacementThatLeavesMostForOthersOnACardThatIsBegun() {
    assertThat(cluster.take(instance("a", "1g.18gb"))).containsExactly("gpu-0-mig-1g-18gb-6");
    assertThat(cluster.take(instance("b", "3g.71gb"))).containsExactly("gpu-0-mig-3g-71gb-0");
    assertThat(cluster.take(instance("c", "2g.35gb"))).containsExactly("gpu-0-mig-2g-35gb-4");
    assertThat(cluster.take(instance("d", "1g.18gb"))).containsExactly("gpu-1-mig-1g-18gb-6");
  }

  @Test
  void anInstanceExcludesTheCardAsAWholeAndItsSharesAndTheyItUntilItIsGivenBack() {
    cluster.take(instance("a", "1g.18gb"));
    assertThat(cluster.take(claim("w", Requests.whole("gpu", 1)))).containsExactly("gpu-1");
    assertThat(cluster.take(claim("s", Requests.share("gpu", 1, 1L << 30, 0))).getFirst())
        .contains("1 card on node-0: has 1 MIG instance", "1 card on node-0: taken as a whole");
    cluster.books.remove("uid-w");
    assertThat(cluster.take(claim("s", Requests.share("gpu", 1, 1L << 30, 0)))).containsExactly("gpu-1-shared");
    assertThat(cluster.take(instance("b", "7g.141gb")).getFirst())
        .contains("placement 0 of 7g.141gb overlaps gpu-0-mig-1g-18gb-6",
            "a MIG instance is asked for, but the card has 1 share");
    cluster.books.remove("uid-a");
    assertThat(cluster.take(instance("b", "7g.141gb"))).containsExactly("gpu-0-mig-7g-141gb-0");
    assertThat(cluster.account(0).exceeds(card(0))).isFalse();
  }

  @Test
  void anExplanationNamesThePlacementsAndWhatOverlapsThem() {
    MigCluster one = new MigCluster(node("node-0", 1));
    one.books.put("x", List.of(booking("1g-18gb", 1), booking("1g-18gb", 5)));
    assertThat(one.take(instance("a", "3g.71gb")).getFirst())
        .contains("placements 0, 4 of 3g.71gb overlap gpu-0-mig-1g-18gb-1, gpu-0-mig-1g-18gb-5");
    assertThat(one.take(instance("me", "1g.18gb+me"))).hasSize(1);
    assertThat(one.take(instance("me2", "1g.18gb+me")).getFirst()).contains("1 of 1 instances of 1g.18gb+me are taken");
  }

  @Test
  void memoryAskedOfTheMigClassTakesTheSmallestProfileThatHasIt() {
    DeviceRequest request = Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1),
        OptionalLong.of(20L << 30), OptionalLong.empty());
    assertThat(cluster.take(claim("a", request)).getFirst()).matches("gpu-0-mig-[12]g-35gb-[0-6]");
    DeviceRequest tooMuch = Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1),
        OptionalLong.of(200L << 30), OptionalLong.empty());
    assertThat(cluster.take(claim("b", tooMuch)).getFirst()).contains("asks 200 GiB; the largest h200 has 140 GiB");
    DeviceRequest cores =
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1), OptionalLong.empty(),
            OptionalLong.of(10));
    assertThat(cluster.take(claim("c", cores)).getFirst()).contains("a MIG instance has no capacity cores");
  }

  @Test
  void anInstanceDoesNotKeepOthersOffItsCardAndSaysSo() {
    ClaimRequest claim = instance("a", "1g.18gb");
    DeviceRequest alone = Requests.alone(claim.requests().getFirst().alternatives().getFirst());
    assertThat(cluster.take(Requests.claim("a", alone)).getFirst())
        .contains("only a share of a card or a whole card can be exclusive");
  }

  @Test
  void severalInstancesOfARequestMayShareACard() {
    assertThat(cluster.take(instances("a", "1g.18gb", 7))).hasSize(7)
        .allMatch(name -> name.startsWith("gpu-0-mig-1g-18gb-"));
    assertThat(cluster.take(instances("b", "3g.71gb", 2))).containsExactlyInAnyOrder("gpu-1-mig-3g-71gb-0",
        "gpu-1-mig-3g-71gb-4");
  }

  @Test
  void aCardThatSomebodyElseHasCutGivesItsInstancesAndNothingElse() {
    Gpu cut = GpuNodes.cut(GpuNodes.migCards("node-0", 1).getFirst(), "3g.71gb:0", "1g.18gb:4", "1g.18gb:6");
    MigCluster byHand = new MigCluster(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(cut)));
    assertThat(byHand.take(claim("s", Requests.share("gpu", 1, 1L << 30, 0))).getFirst())
        .contains("not offered as shared", "MIG instances that Partita did not make");
    assertThat(byHand.take(claim("w", Requests.whole("gpu", 1))).getFirst()).contains("not offered as whole");
    assertThat(byHand.take(instances("a", "1g.18gb", 2)))
        .containsExactlyInAnyOrder("gpu-0-mig-1g-18gb-4", "gpu-0-mig-1g-18gb-6");
    assertThat(byHand.take(instance("b", "1g.18gb")).getFirst())
        .as("a third could be made, and nobody does").contains("placements 4, 6 of 1g.18gb overlap");
    DeviceRequest amount = Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1),
        OptionalLong.of(20L << 30), OptionalLong.empty());
    assertThat(byHand.take(claim("c", amount))).containsExactly("gpu-0-mig-3g-71gb-0");
    assertThat(byHand.account(0).exceeds(card(0))).isFalse();
    byHand.books.remove("uid-a");
    Selector thisOne = new Selector("request gpu", "\"instanceUUID\" in device.attributes[\"gpu.partita.dev\"]"
        + " && device.attributes[\"gpu.partita.dev\"].instanceUUID == \"MIG-1g.18gb:6\"");
    assertThat(byHand.take(claim("u", Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG), thisOne),
        new Count.Exactly(1), OptionalLong.empty(), OptionalLong.empty())))).containsExactly("gpu-0-mig-1g-18gb-6");
    assertThat(byHand.take(instance("b", "1g.18gb")).getFirst()).startsWith("gpu-0-mig-1g-18gb-");
  }

  @Test
  void allInstancesOfAProfileAreThoseAtEachOfItsPlaces() {
    ClaimRequest all = claim("a", Requests.all(request("gpu", "1g.35gb", 1)));
    List<String> everyPlace = new ArrayList<>();
    for (int card = 0; card < 2; card++) {
      for (int start = 0; start < 8; start += 2) {
        everyPlace.add("gpu-" + card + "-mig-1g-35gb-" + start);
      }
    }
    assertThat(cluster.take(all)).containsExactlyInAnyOrderElementsOf(everyPlace);
    assertThat(cluster.take(claim("b", Requests.all(request("gpu", "1g.35gb", 1)))).getFirst())
        .contains("placements 0, 2, 4, 6 of 1g.35gb overlap");
  }

  @Test
  void allInstancesAreNotThoseOfHealthyCardsAlone() {
    List<Gpu> gpus = new ArrayList<>(GpuNodes.migCards("node-0", 3));
    gpus.replaceAll(gpu -> gpu.index() == 0 ? gpu : gpu.withHealth(GpuHealth.unhealthy("XID 79", "fell off the bus")));
    MigCluster oneHealthy =
        new MigCluster(GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Controller, ALL_MODES, null), gpus));
    // As many as there are cards: which of the two is counted must not matter.
    assertThat(oneHealthy.take(claim("a", Requests.all(request("gpu", "2g.35gb", 1)))).getFirst())
        .contains("2 cards on node-0: taint gpu.partita.dev/unhealthy=XID-79");
  }

  @Test
  void whoLooksAtAllInstancesSeesAsManyAsAClaimCanHold() {
    DeviceRequest all =
        Requests.all(Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG)), new Count.Exactly(1),
            OptionalLong.empty(), OptionalLong.empty()));
    assertThat(new MigCluster(node("node-0", 1)).take(claim("a", Requests.monitor(all)))).hasSize(25);
    assertThat(cluster.take(claim("a", Requests.monitor(all))).getFirst())
        .contains("claim a asks for 50 devices there; one claim can hold 32");
    List<DeviceRequest> either = List.of(Requests.monitor(all), Requests.share("gpu", "a100", 1L << 30));
    ClaimRequest claim = new ClaimRequest(new ClaimRef("default", "b", "uid-b"),
        List.of(new ClaimRequest.NamedRequest("gpu", either)), List.of());
    assertThat(cluster.take(claim).getFirst()).as("what the last way to serve it lacks")
        .contains("model is h200, asked a100");
  }

  @Test
  void instancesThatACardHasRoomForAreNotWhatAClaimLacks() {
    MigCluster one = new MigCluster(node("node-0", 1));
    ClaimRequest both = Requests.claim("a", request("gpu", "1g.18gb", 3), Requests.share("other", 1, 1L << 30, 0));
    assertThat(one.take(both).getFirst()).contains("1 card on node-0: each request fits, but not all of them together");
    one.books.put("x", List.of(booking("3g-71gb", 4)));
    assertThat(one.take(instances("b", "1g.18gb", 5)).getFirst())
        .contains("5 wanted on one node by request gpu, 4 fit there");
  }

  @Test
  void anInstanceServesWhoWouldRatherHaveTheCardOnlyWhereNoneIsFree() {
    DeviceRequest any =
        Requests.request("gpu", List.of(Requests.model("h200")), new Count.Exactly(1), OptionalLong.empty(),
            OptionalLong.empty());
    assertThat(cluster.take(claim("a", any))).containsExactly("gpu-0");
    assertThat(cluster.take(claim("b", any))).containsExactly("gpu-1");
    assertThat(cluster.take(claim("c", any)).getFirst()).contains("2 cards on node-0: taken as a whole");
    MigCluster one = new MigCluster(node("node-0", 1));
    one.take(instance("a", "1g.18gb"));
    assertThat(one.take(claim("b", any)).getFirst()).startsWith("gpu-0-mig-");
    assertThat(one.take(claim("c", Requests.alone(any))).getFirst())
        .isEqualTo("0 of 1 card fits: 1 card on node-0: has 2 MIG instances");
  }

  @Test
  void aSelectorThatAllModesSatisfyMeansWhatItMeantWithoutMig() {
    List<Selector> model = List.of(Requests.model("h200"));
    assertThat(cluster
        .take(claim("a",
            Requests.request("gpu", model, new Count.Exactly(1), OptionalLong.empty(), OptionalLong.empty()))))
        .containsExactly("gpu-0");
    assertThat(cluster
        .take(claim("b",
            Requests.request("gpu", model, new Count.Exactly(1), OptionalLong.of(1 << 30), OptionalLong.empty()))))
        .containsExactly("gpu-1-shared");
  }

  @Test
  void whatIsTakenNeverExcludesItselfAndComesBackWhole() {
    Random random = new Random(7);
    List<String> profiles = GpuNodes.h200Profiles().stream().map(profile -> profile.name()).toList();
    List<String> held = new ArrayList<>();
    for (int step = 0; step < 400; step++) {
      String name = "c" + step;
      ClaimRequest claim =
          switch (random.nextInt(5)) {
            case 0 -> claim(name, Requests.share("gpu", 1, (1L + random.nextInt(60)) << 30, 0));
            case 1 -> claim(name, Requests.whole("gpu", 1));
            default -> instances(name, profiles.get(random.nextInt(profiles.size())), 1 + random.nextInt(2));
          };
      cluster.take(claim);
      if (!cluster.books.bookings(claim.claim().uid()).isEmpty()) {
        held.add(claim.claim().uid());
      }
      IntStream.range(0, 2).forEach(card -> assertThat(cluster.account(card).exceeds(card(card))).isFalse());
      while (held.size() > random.nextInt(8)) {
        cluster.books.remove(held.remove(random.nextInt(held.size())));
      }
    }
    held.forEach(cluster.books::remove);
    IntStream.range(0, 2).forEach(card -> assertThat(cluster.account(card)).isEqualTo(Account.EMPTY));
  }

  @Test
  void aForecastEndsWhenNoneOfThePodsThatCameCanBeForeseenAnyMore() {
    PodNeeds needs = new PodNeeds(1_000, 1L << 30);
    DemandHistory history = new DemandHistory();
    for (int pod = 0; pod < 40; pod++) {
      history.arrived(needs, List.of(instance("m" + pod, "1g.18gb")));
    }
    FreeCards cards = new FreeCards(new Books(), new HostCapacities(), history);
    var allocator = new dev.partita.controller.allocate.Allocator(new DeviceSelectors());
    List<GpuNode> nodes = new ArrayList<>(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140L << 30)));
    for (int another = 1; another < 3; another++) { // at first, no card gives instances: that is foreseen
      cards.refresh(Inventory.EMPTY.refreshed(nodes));
      assertThat(allocator.place(needs, List.of(claim("s", Requests.share("gpu", 1, 1L << 30, 10))),
          host -> Optional.empty(), cards)).isPresent();
      nodes.add(node("node-" + another, 2));
    }
  }

  @Test
  void whatSomebodyElseAllocatedTwiceIsTooMuch() {
    cluster.books.put("x", List.of(booking("1g-18gb", 1)));
    cluster.books.put("y", List.of(booking("1g-18gb", 1)));
    assertThat(cluster.account(0).exceeds(card(0))).isTrue();
    cluster.books.remove("x");
    assertThat(cluster.account(0).exceeds(card(0))).isFalse();
    cluster.books.put("z", List.of(new Booking(new CardKey("node-0", 0), DeviceMode.SHARED, 1, 0)));
    assertThat(cluster.account(0).exceeds(card(0))).isTrue();
  }

  private Card card(int index) {
    return Objects.requireNonNull(cluster.inventory.host("node-0")).cards().get(index);
  }

  private static Booking booking(String profile, int start) {
    return new Booking(new CardKey("node-0", 0), new DeviceName.Mig(0, new MigSlot(profile, start)), 0, 0);
  }

  private static ClaimRequest claim(String name, DeviceRequest request) {
    return Requests.claim(name, request);
  }

  private static ClaimRequest instance(String name, String profile) {
    return instances(name, profile, 1);
  }

  private static ClaimRequest instances(String name, String profile, int count) {
    return Requests.claim(name, request("gpu", profile, count));
  }

  private static DeviceRequest request(String request, String profile, int count) {
    Selector selector =
        new Selector("request gpu", "device.attributes[\"gpu.partita.dev\"].profile == \"" + profile + "\"");
    return Requests.request(request, List.of(Requests.mode(DeviceMode.MIG), selector), new Count.Exactly(count),
        OptionalLong.empty(), OptionalLong.empty());
  }

  private static GpuNode node(String name, int cards) {
    return GpuNodes.ready(name, new GpuNodeSpec(Allocator.Controller, ALL_MODES, null), GpuNodes.migCards(name, cards));
  }
}
