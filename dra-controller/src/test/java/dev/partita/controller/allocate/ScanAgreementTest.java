package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is looked up in the order of free cards is what looking at every host would have found, on clusters that change.
 */
class ScanAgreementTest {
  private static final long GIB = GpuNodes.GIB;
  private static final String[] PRODUCTS = {"NVIDIA H200", "NVIDIA A100", "Tesla T4"};
  private static final long[] MEMORY = {140, 80, 16};

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void lookupFindsWhatAScanFinds(long seed) {
    Random random = new Random(seed);
    RandomStream stream = new RandomStream(random);
    List<GpuNode> nodes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      nodes.add(i % 3 == 0 ? stream.node("node-" + i) : node("node-" + i, random));
    }
    Inventory inventory = Inventory.EMPTY.refreshed(nodes);
    Allocator allocator = new Allocator(new DeviceSelectors());
    Books books = new Books();
    FreeCards cards = new FreeCards(books);
    List<String> live = new ArrayList<>();
    int allocated = 0;
    for (int step = 0; step < 400; step++) {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> {
          if (!live.isEmpty()) {
            books.remove(live.remove(random.nextInt(live.size())));
          }
        }
        case 3 -> {
          int which = random.nextInt(nodes.size());
          String name = "node-" + random.nextInt(25);
          nodes.set(
              which,
              switch (random.nextInt(3)) {
                case 0 -> stream.otherHealth(nodes.get(which));
                case 1 -> stream.node(name);
                default -> node(name, random);
              });
          inventory = inventory.refreshed(distinct(nodes));
        }
        case 4 -> { // somebody else allocates as they like
          CardKey card = new CardKey("node-" + random.nextInt(25), random.nextInt(8));
          Booking booking =
              switch (random.nextInt(4)) {
                case 3 -> Booking.turn(card);
                case 0 -> new Booking(card, DeviceMode.WHOLE, 0, 0);
                case 1 -> new Booking(card, DeviceMode.SHARED, random.nextLong(200 * GIB), random.nextInt(120));
                default -> new Booking(card,
                    new DeviceName.Mig(card.index(), new MigSlot("1g-18gb", random.nextInt(9))), 0, 0);
              };
          books.put("wild" + step, List.of(booking));
          live.add("wild" + step);
        }
        default -> {
          int refused = random.nextInt(4);
          Candidates candidates =
              host -> host.name().hashCode() % 4 < refused - 1 ? Optional.of("not there") : Optional.empty();
          List<ClaimRequest> pod =
              new ArrayList<>(random.nextInt(3) == 0 ? stream.pod("s" + step) : List.of(claim(random, "s" + step)));
          if (random.nextInt(8) == 0) {
            pod.add(claim(random, "t" + step));
          }
          cards.refresh(inventory);
          Optional<Outcome.Allocated> outcome = allocator.place(PodNeeds.NONE, pod, candidates, cards);
          FreeCards anew = new FreeCards(books);
          anew.refresh(inventory);
          assertThat(allocator.placeByScan(pod, candidates, anew)).as("step %s: %s", step, pod).isEqualTo(outcome);
          assertThat(allocator.explain(pod, candidates, cards)).as("step %s: %s", step, pod)
              .isEqualTo(allocator.explainOneByOne(pod, candidates, cards));
          if (outcome.isPresent()) {
            allocated++;
            for (ClaimPlacement placement : outcome.get().claims()) {
              books.put(placement.claim().name(), placement.bookings());
              live.add(placement.claim().name());
            }
          }
        }
      }
    }
    assertThat(allocated).isGreaterThan(50);
  }

  private static List<GpuNode> distinct(List<GpuNode> nodes) {
    var byName = new java.util.TreeMap<String, GpuNode>();
    nodes.forEach(node -> byName.put(node.getMetadata().getName(), node));
    return List.copyOf(byName.values());
  }

  private static GpuNode node(String name, Random random) {
    int product = random.nextInt(PRODUCTS.length);
    return GpuNodes.ready(name, 1 + random.nextInt(8), PRODUCTS[product], MEMORY[product] * GIB);
  }

  private static ClaimRequest claim(Random random, String name) {
    List<Constraint> constraints =
        switch (random.nextInt(8)) {
          case 0, 1 -> List.of(new Constraint.Equal("resource.kubernetes.io/numaNode", List.of()));
          case 2 -> List.of(new Constraint.Distinct("gpu.partita.dev/nvlinkDomain", List.of()));
          case 3 -> List.of(new Constraint.Equal("gpu.partita.dev/colour", List.of()));
          default -> List.of();
        };
    List<DeviceRequest> requests =
        switch (random.nextInt(28)) {
          case 26 -> List.of(Requests.turns("r", 1));
          case 27 -> List.of(spread(Requests.turns("r", 1 + random.nextInt(3))), Requests.share("q", 1, GIB, 5));
          case 20 -> List.of(Requests.alone(Requests.share("r", 1 + random.nextInt(2), 8 * GIB, 20)));
          case 21 ->
              List.of(Requests.alone(Requests.share("r", 1, 8 * GIB, 20)), Requests.share("q", 1, GIB, 5),
                  Requests.whole("p", 1));
          case 22 ->
              List.of(Requests.on(Requests.share("r", 1, 2 * GIB, 10), Requests.avoid("t4", "h200"), Choice.ANY));
          case 23 ->
              List.of(Requests.on(Requests.whole("r", 1 + random.nextInt(3)), Requests.choose("h200"), Choice.ANY));
          case 24 -> List
              .of(Requests.on(Requests.share("r", 1, 2 * GIB, 10), Choice.ANY,
                  Requests.avoid(anyUuid(random), anyUuid(random))));
          case 25 -> List.of(Requests.on(Requests.alone(Requests.share("r", 1, GIB, 10)), Choice.ANY,
              Requests.choose(anyUuid(random), anyUuid(random))));
          case 10 -> List.of(Requests.share("r", 2 + random.nextInt(4), GIB, 5));
          case 11 ->
              List.of(spread(Requests.share("r", 1 + random.nextInt(3), 10 * GIB, 20)), spread(Requests.whole("q", 1)));
          case 12 -> List.of(numa("r", random.nextInt(2)));
          case 13 -> List.of(Requests.all(Requests.share("r", 1, 2 * GIB, 5)));
          case 14 -> List.of(Requests.all(Requests.whole("r", 1)), Requests.share("q", 1, GIB, 5));
          case 15 ->
              List.of(Requests.share("r", 1, 2 * GIB, 10), Requests.share("q", 1, 12 * GIB, 5L * random.nextInt(3)));
          case 16 -> List.of(Requests.share("r", 2, GIB, 5), Requests.share("q", 1, 3 * GIB, 10),
              Requests.share("p", 1, GIB, 0));
          case 0 -> List.of(Requests.whole("r", 1), Requests.whole("q", 1 + random.nextInt(3)));
          case 1 -> List.of(Requests.whole("r", 1 + random.nextInt(8)));
          case 2 -> List.of(Requests.whole("r", 1));
          case 3 -> List.of(spread(Requests.share("r", 1, GIB, 5)));
          case 4 -> List.of(Requests.share("r", 1 + random.nextInt(2), GIB, 5), Requests.whole("q", 1));
          case 5 -> List.of(uuid("r", anyUuid(random)));
          case 6 -> List.of(Requests.share("r", "h200", 1 + random.nextLong(70 * GIB)));
          case 7 -> List.of(Requests.percent("r", 1 + random.nextInt(2), 1 + random.nextInt(100), 5));
          default -> List.of(Requests.share("r", 1, (1 + random.nextInt(40)) * GIB, 5L * random.nextInt(14)));
        };
    if (random.nextInt(8) == 0) { // two choices of one rank
      var first = new NamedRequest("r", List.of(Requests.share("r/a", 2, 2 * GIB, 10), Requests.whole("r/b", 1)));
      var second = new NamedRequest("q", List.of(Requests.whole("q/a", 2), Requests.share("q/b", 1, GIB, 5)));
      return new ClaimRequest(new ClaimRef("default", name, "uid-" + name), List.of(first, second), constraints);
    }
    if (random.nextInt(5) == 0) {
      var either = new NamedRequest("r",
          List.of(Requests.share("r/a", "t4", 12 * GIB), Requests.whole("r/b", 2),
              Requests.share("r/c", 1, 30 * GIB, 40)));
      return new ClaimRequest(new ClaimRef("default", name, "uid-" + name), List.of(either), constraints);
    }
    return Requests.claim(name, constraints, requests.toArray(DeviceRequest[]::new));
  }

  private static String anyUuid(Random random) {
    return "GPU-node-" + random.nextInt(20) + "-" + random.nextInt(4);
  }

  private static DeviceRequest spread(DeviceRequest request) {
    return Requests.placed(request, request.placement().packed(Packing.SPREAD, Packing.SPREAD));
  }

  private static DeviceRequest numa(String name, int node) {
    var selector =
        new DeviceRequest.Selector("request", "device.attributes[\"resource.kubernetes.io\"].numaNode == " + node);
    return Requests.request(name, List.of(Requests.mode(DeviceMode.SHARED), selector),
        new DeviceRequest.Count.Exactly(1),
        OptionalLong.of(GIB), OptionalLong.empty());
  }

  private static DeviceRequest uuid(String name, String uuid) {
    var selector =
        new DeviceRequest.Selector("request", "device.attributes[\"gpu.partita.dev\"].uuid == \"" + uuid + "\"");
    return Requests.request(name, List.of(Requests.mode(DeviceMode.SHARED), selector),
        new DeviceRequest.Count.Exactly(1),
        OptionalLong.of(GIB), OptionalLong.empty());
  }
}
