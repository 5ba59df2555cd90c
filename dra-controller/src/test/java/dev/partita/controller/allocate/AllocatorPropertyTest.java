package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.allocate.Outcome.ClaimPlacement;
import dev.partita.controller.allocate.Outcome.DevicePlacement;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random clusters and streams of pods, checked against an account of the cards that is kept apart. */
class AllocatorPropertyTest {
  private static final long GIB = GpuNodes.GIB;
  private static final String[] PRODUCTS = {"NVIDIA H200", "NVIDIA A100", "Tesla T4"};
  private static final long[] MEMORY = {140, 80, 16};

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void neverOvercommitsAndAlwaysGivesBackExactly(long seed) {
    Random random = new Random(seed);
    Inventory inventory = Inventory.EMPTY.refreshed(cluster(random));
    Allocator allocator = new Allocator(new DeviceSelectors());
    Books books = new Books();
    HostRooms rooms = new HostRooms();
    Mix mix = new Mix();
    FreeCards cards = new FreeCards(books, rooms, mix);
    boolean expecting = seed % 2 == 0; // else no pod requests CPU, and there is nothing to expect
    inventory.hosts().keySet().forEach(host -> rooms.put(host, room(random, expecting)));
    Map<String, ClaimPlacement> live = new HashMap<>();
    for (int step = 0; step < 400; step++) {
      if (!live.isEmpty() && random.nextInt(3) == 0) {
        String gone = live.keySet().stream().sorted().skip(random.nextInt(live.size())).findFirst().orElseThrow();
        live.remove(gone);
        books.remove(gone);
      } else {
        List<ClaimAsk> pod = pod(random, step);
        PodNeeds needs = expecting ? new PodNeeds(1_000L * random.nextInt(9), random.nextInt(9) * GIB) : PodNeeds.NONE;
        Candidates candidates = host -> rooms.of(host.name()).holds(needs) ? Optional.empty() : Optional.of("too little is free on the node");
        mix.arrived(needs, pod);
        cards.refresh(inventory);
        Outcome outcome = allocator.allocate(needs, pod, candidates, cards);
        assertThat(allocator.allocate(needs, pod, candidates, cards)).as("same input, same outcome").isEqualTo(outcome);
        if (outcome instanceof Outcome.Allocated allocated) {
          checkPod(pod, allocated);
          assertThat(rooms.of(allocated.node()).holds(needs)).isTrue();
          rooms.put(allocated.node(), room(random, expecting));
          for (ClaimPlacement placement : allocated.claims()) {
            books.put(placement.claim().uid(), placement.bookings());
            live.put(placement.claim().uid(), placement);
          }
        } else {
          assertThat(((Outcome.Unallocatable) outcome).explanation()).isEqualTo(allocator.explainOneByOne(pod, candidates, cards));
          checkRefusal(pod, (Outcome.Unallocatable) outcome, inventory, books);
          checkReasonsGoAway(allocator, pod, needs, candidates, (Outcome.Unallocatable) outcome, inventory, live.values());
        }
      }
      checkCards(inventory, books, live);
    }
    new ArrayList<>(live.keySet()).forEach(books::remove);
    inventory.hosts().values().stream().flatMap(h -> h.cards().stream()).forEach(card -> assertThat(books.of(card.key())).isEqualTo(Account.EMPTY));
  }

  private static List<GpuNode> cluster(Random random) {
    List<GpuNode> nodes = new ArrayList<>();
    int count = 1 + random.nextInt(5);
    for (int i = 0; i < count; i++) {
      int product = random.nextInt(PRODUCTS.length);
      nodes.add(GpuNodes.ready("node-" + i, 1 + random.nextInt(8), PRODUCTS[product], MEMORY[product] * GIB));
    }
    return nodes;
  }

  private static List<ClaimAsk> pod(Random random, int step) {
    List<ClaimAsk> claims = new ArrayList<>();
    int count = 1 + random.nextInt(2);
    for (int c = 0; c < count; c++) {
      List<DeviceAsk> asks = new ArrayList<>();
      int requests = 1 + random.nextInt(2);
      for (int r = 0; r < requests; r++) {
        asks.add(
            switch (random.nextInt(5)) {
              case 0 -> Asks.whole("r" + r, 1 + random.nextInt(2));
              case 2 -> Asks.percent("r" + r, 1 + random.nextInt(2), 1 + random.nextInt(100), random.nextInt(60));
              case 1 -> Asks.share("r" + r, "h200", 1 + random.nextLong(70 * GIB));
              default -> Asks.share("r" + r, 1 + random.nextInt(3), 1 + random.nextLong(20 * GIB), random.nextInt(60));
            });
      }
      List<Constraint> constraints =
          random.nextInt(4) == 0 ? List.of(new Constraint.Match("resource.kubernetes.io/numaNode", List.of())) : List.of();
      asks.replaceAll(ask -> placed(random, ask));
      claims.add(Asks.claim("s" + step + "c" + c, constraints, asks.toArray(DeviceAsk[]::new)));
    }
    return claims;
  }

  /** Now and then it cares about which card it is on, and with whom. */
  private static DeviceAsk placed(Random random, DeviceAsk ask) {
    return switch (random.nextInt(12)) {
      case 0 -> Asks.on(ask, Asks.choose("a100", "h200"), Choice.ANY);
      case 1 -> Asks.on(ask, Asks.avoid("t4"), Asks.avoid("GPU-node-0-0", "GPU-node-1-1"));
      case 2 -> Asks.on(ask, Choice.ANY, Asks.choose("GPU-node-0-0", "GPU-node-0-1", "GPU-node-2-0"));
      case 3 -> ask.memory().isSaid() ? Asks.alone(ask) : ask;
      default -> ask;
    };
  }

  private static boolean isChosen(Card card, DeviceAsk ask) {
    return isChosen(card.model(), ask.placement().models()) && isChosen(card.gpu().uuid(), ask.placement().uuids());
  }

  private static boolean isChosen(String value, Choice choice) {
    return (choice.choose().isEmpty() || choice.choose().contains(value)) && !choice.avoid().contains(value);
  }

  private static void checkPod(List<ClaimAsk> pod, Outcome.Allocated allocated) {
    assertThat(allocated.claims()).hasSameSizeAs(pod);
    for (int i = 0; i < pod.size(); i++) {
      ClaimPlacement placement = allocated.claims().get(i);
      assertThat(placement.claim()).isEqualTo(pod.get(i).claim());
      Map<String, Set<CardKey>> cards = new HashMap<>();
      for (DevicePlacement device : placement.devices()) {
        assertThat(device.device().card().key().node()).as("all on one node").isEqualTo(allocated.node());
        assertThat(cards.computeIfAbsent(device.request().name(), n -> new HashSet<>()).add(device.device().card().key()))
            .as("results of one request on different cards")
            .isTrue();
        assertThat(isChosen(device.device().card(), device.request())).isTrue();
        if (device.device().mode() == DeviceMode.SHARED) {
          assertThat(device.memory()).isGreaterThanOrEqualTo(device.request().memory().bytesOf(device.device().card().sellableMemory()).orElse(0));
        }
      }
      pod.get(i)
          .requests()
          .forEach(
              request -> {
                int wanted = ((DeviceAsk.Count.Exactly) request.alternatives().getFirst().count()).devices();
                assertThat(cards.get(request.name())).hasSize(wanted);
              });
      if (!pod.get(i).constraints().isEmpty()) {
        assertThat(placement.devices().stream().map(d -> d.device().attribute("resource.kubernetes.io/numaNode")).distinct()).hasSize(1);
      }
    }
  }

  /** What is said of a card is true, and trying every combination finds no placement either. */
  private static void checkRefusal(List<ClaimAsk> pod, Outcome.Unallocatable outcome, Inventory inventory, Books books) {
    Explanation explanation = outcome.explanation();
    assertThat(explanation.summary(900)).isNotBlank().hasSizeLessThanOrEqualTo(900);
    assertThat(explanation.nodes()).extracting(NodeRefusal::node).containsExactlyElementsOf(inventory.hosts().keySet());
    for (NodeRefusal refusal : explanation.nodes()) {
      GpuHost host = Objects.requireNonNull(inventory.host(refusal.node()));
      if (refusal instanceof NodeRefusal.CardsUnfit unfit) {
        assertThat(unfit.fitting()).isLessThan(unfit.wanted());
        unfit.refusals().forEach((index, why) -> {
          CardKey card = new CardKey(unfit.node(), index);
          assertTrue(card, why, host, books.of(card), ask(pod, unfit));
        });
      }
      if (!(refusal instanceof NodeRefusal.PodUnfit) && pod.stream().allMatch(claim -> claim.constraints().isEmpty())) {
        List<DeviceAsk> units = new ArrayList<>();
        pod.forEach(claim -> claim.requests().forEach(request -> units.addAll(units(request.alternatives().getFirst()))));
        assertThat(everyWay(units, 0, new ArrayList<>(), host, books)).as("%s could serve %s", host.name(), pod).isFalse();
      }
    }
  }

  /** What the refusal is about. */
  private static DeviceAsk ask(List<ClaimAsk> pod, NodeRefusal.CardsUnfit unfit) {
    return pod.stream()
        .filter(claim -> claim.claim().equals(unfit.claim()))
        .flatMap(claim -> claim.requests().stream())
        .flatMap(request -> request.alternatives().stream())
        .filter(ask -> ask.name().equals(unfit.request()))
        .findFirst()
        .orElseThrow();
  }

  private static HostRooms.Room room(Random random, boolean limited) {
    PodNeeds total = new PodNeeds(32_000, 64 * GIB);
    return limited ? new HostRooms.Room(new PodNeeds(random.nextInt(32_001), random.nextLong(64 * GIB)), total) : HostRooms.Room.ENDLESS;
  }

  /** Once what is taken of a card is given back, it is not what is taken of it that excludes it. */
  private static void checkReasonsGoAway(
      Allocator allocator,
      List<ClaimAsk> pod,
      PodNeeds needs,
      Candidates candidates,
      Outcome.Unallocatable outcome,
      Inventory inventory,
      Collection<ClaimPlacement> live) {
    for (NodeRefusal refusal : outcome.explanation().nodes()) {
      if (!(refusal instanceof NodeRefusal.CardsUnfit unfit)) {
        continue;
      }
      for (int index : unfit.refusals().keySet()) {
        CardKey card = new CardKey(unfit.node(), index);
        CardRefusal why = Objects.requireNonNull(unfit.refusals().get(index));
        if (!isAboutWhatIsTaken(why)) {
          continue;
        }
        Books without = new Books();
        for (ClaimPlacement placement : live) {
          without.put(placement.claim().uid(), placement.bookings().stream().filter(booking -> !booking.card().equals(card)).toList());
        }
        FreeCards cards = new FreeCards(without);
        cards.refresh(inventory);
        Outcome then = allocator.allocate(needs, pod, candidates, cards);
        if (then instanceof Outcome.Unallocatable(Explanation explanation)) {
          explanation.nodes().stream()
              .filter(node -> node.node().equals(unfit.node()))
              .filter(node -> node instanceof NodeRefusal.CardsUnfit same && same.request().equals(unfit.request()) && same.claim().equals(unfit.claim()))
              .map(node -> ((NodeRefusal.CardsUnfit) node).refusals().get(index))
              .filter(Objects::nonNull)
              .forEach(reason -> assertThat(isAboutWhatIsTaken(reason)).as("%s on an empty %s", reason, card).isFalse());
        }
        return; // one a refusal: the next step has another
      }
    }
  }

  private static boolean isAboutWhatIsTaken(CardRefusal why) {
    return why instanceof CardRefusal.MemoryTaken
        || why instanceof CardRefusal.CoresTaken
        || why instanceof CardRefusal.TakenWhole
        || why instanceof CardRefusal.HasShares;
  }

  private static void assertTrue(CardKey key, CardRefusal why, GpuHost host, Account account, DeviceAsk ask) {
    Card card = host.cards().get(key.index());
    switch (why) {
      case CardRefusal.MemoryTaken(long free, long asked) -> {
        assertThat(free).isEqualTo(card.sellableMemory() - account.memory());
        assertThat(asked).isGreaterThan(free);
      }
      case CardRefusal.CoresTaken(int free, int asked) -> {
        assertThat(free).isEqualTo(100 - account.cores());
        assertThat(asked).isGreaterThan(free);
      }
      case CardRefusal.TakenWhole _ -> assertThat(account.wholes()).isPositive();
      case CardRefusal.HasShares(int shares) -> assertThat(account.shares()).isEqualTo(shares).isPositive();
      case CardRefusal.OtherModel(String model, String asked) -> assertThat(card.model()).isEqualTo(model).isNotIn(List.of(asked.split(" or ")));
      case CardRefusal.AvoidedModel(String model) -> assertThat(card.model()).isEqualTo(model).isIn(ask.placement().models().avoid());
      case CardRefusal.OtherCard _ -> assertThat(card.gpu().uuid()).isNotIn(ask.placement().uuids().choose());
      case CardRefusal.AvoidedCard _ -> assertThat(card.gpu().uuid()).isIn(ask.placement().uuids().avoid());
      case CardRefusal.TooSmall(long total, long asked, String model) -> assertThat(asked).isGreaterThan(total);
      default -> throw new AssertionError(why + " was not asked for");
    }
  }

  private static List<DeviceAsk> units(DeviceAsk ask) {
    return java.util.Collections.nCopies(((DeviceAsk.Count.Exactly) ask.count()).devices(), ask);
  }

  /** Whether any assignment of cards to units keeps to the rules; a unit of the same ask as the one before takes a later card. */
  private static boolean everyWay(List<DeviceAsk> units, int unit, List<Integer> chosen, GpuHost host, Books books) {
    if (unit == units.size()) {
      return true;
    }
    DeviceAsk ask = units.get(unit);
    boolean whole = takesAll(ask);
    int from = unit > 0 && units.get(unit - 1).equals(ask) ? chosen.get(unit - 1) + 1 : 0;
    for (int c = from; c < host.cards().size(); c++) {
      Card card = host.cards().get(c);
      Account account = books.of(card.key());
      for (int u = 0; u < unit; u++) {
        if (chosen.get(u) == c) {
          DeviceAsk other = units.get(u);
          DeviceMode mode = takesAll(other) ? DeviceMode.WHOLE : DeviceMode.SHARED;
          long bytes = Math.max(1 << 20, other.memory().bytesOf(card.sellableMemory()).orElse(0));
          account = account.plus(DeviceName.of(c, mode), bytes, (int) other.cores().orElse(0));
        }
      }
      boolean model = ask.selectors().size() == 1 || card.model().equals("h200");
      boolean room =
          whole
              ? account.isUntouched() && ask.memory().bytesOf(card.sellableMemory()).orElse(0) <= card.sellableMemory()
              : account.wholes() == 0
                  && account.memory() + Math.max(1 << 20, ask.memory().bytesOf(card.sellableMemory()).orElse(0)) <= card.sellableMemory()
                  && account.cores() + ask.cores().orElse(0) <= 100;
      if (model && room && isChosen(card, ask)) {
        chosen.add(c);
        if (everyWay(units, unit + 1, chosen, host, books)) {
          return true;
        }
        chosen.removeLast();
      }
    }
    return false;
  }

  private static boolean takesAll(DeviceAsk ask) {
    return !ask.memory().isSaid() || ask.placement().exclusive();
  }

  private static void checkCards(Inventory inventory, Books books, Map<String, ClaimPlacement> live) {
    Map<CardKey, Account> apart = new HashMap<>();
    for (ClaimPlacement placement : live.values()) {
      for (Booking booking : placement.bookings()) {
        apart.merge(
            booking.card(),
            Account.EMPTY.plus(booking),
            (a, b) -> new Account(a.shares() + b.shares(), a.wholes() + b.wholes(), a.memory() + b.memory(), a.cores() + b.cores()));
      }
    }
    for (GpuHost host : inventory.hosts().values()) {
      for (Card card : host.cards()) {
        Account account = apart.getOrDefault(card.key(), Account.EMPTY);
        assertThat(books.of(card.key())).isEqualTo(account);
        assertThat(account.memory()).isLessThanOrEqualTo(card.sellableMemory());
        assertThat(account.cores()).isLessThanOrEqualTo(100);
        assertThat(account.wholes()).isLessThanOrEqualTo(1);
        assertThat(account.wholes() > 0 && account.shares() > 0).as("whole and shared exclude each other").isFalse();
      }
    }
  }
}
