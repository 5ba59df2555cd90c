package dev.partita.controller.replay;

import dev.partita.api.DeviceMode;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.allocate.Allocator;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.replay.Scenarios.ClaimKind;
import dev.partita.controller.replay.Scenarios.Numbers;
import dev.partita.controller.replay.Scenarios.Prefilled;
import dev.partita.controller.replay.Scenarios.Scenario;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Plays one scenario, claim by claim through allocator and books, and measures the time. Outside that time every
 * placement is checked against a separate account of the cards.
 */
public final class ScenarioRun {
  private static final long MIB = 1L << 20;
  private static final Candidates EVERYWHERE = host -> Optional.empty();

  private final Scenarios file;
  private final Scenario scenario;
  private final PodSizes sizes;
  private final Inventory inventory;
  private final Books books = new Books();
  private final DemandHistory history = new DemandHistory();
  private final HostCapacities capacities = new HostCapacities();
  private final FreeCards cards = new FreeCards(books, capacities, history);
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private final List<Live> live = new ArrayList<>();
  private final long[][] memoryUsed;
  private final int[][] coresUsed;
  private final int[][] users;
  private long coresTotal;
  private long placements;

  private record Live(String uid, ClaimKind kind, int node, List<Integer> gpus) {}

  private ScenarioRun(Scenarios file, Scenario scenario, PodSizes sizes) {
    this.file = file;
    this.scenario = scenario;
    this.sizes = sizes;
    List<GpuNode> nodes = new ArrayList<>();
    for (int n = 0; n < scenario.nodes(); n++) {
      nodes.add(node(n));
      if (!sizes.host().isNothing()) {
        capacities.put(name(n), new HostCapacities.Capacity(sizes.host(), sizes.host()));
      }
    }
    this.inventory = Inventory.EMPTY.refreshed(nodes);
    this.memoryUsed = new long[scenario.nodes()][scenario.gpusPerNode()];
    this.users = new int[scenario.nodes()][scenario.gpusPerNode()];
    this.coresUsed = new int[scenario.nodes()][scenario.gpusPerNode()];
  }

  /**
   * Plays the scenario.
   *
   * @throws IllegalArgumentException if the scenario names what the file does not describe
   */
  public static ScenarioReport play(Scenarios file, Scenario scenario, PodSizes sizes) {
    return new ScenarioRun(file, scenario, sizes).play();
  }

  private ScenarioReport play() {
    for (int n = 0; n < scenario.nodes(); n++) {
      for (Prefilled prefilled : file.prefill(scenario)) {
        ClaimKind kind = file.kind(prefilled.claim());
        String uid = "prefill-" + live.size();
        books.put(uid, List.of(booking(kind, new CardKey(name(n), prefilled.gpu()))));
        request(name(n), kind, 1);
        keep(new Live(uid, kind, n, List.of(prefilled.gpu())));
      }
    }
    cards.refresh(inventory);
    System.gc(); // the comparison collects the rubbish of its preparation here, too
    Numbers arrivals = new Numbers(scenario.seed());
    Numbers victims = new Numbers(scenario.seed() + 1);
    long[] took = new long[scenario.claims()];
    long deadline = System.nanoTime() + (long) (scenario.limitSeconds() * 1e9);
    int done = 0;
    int failed = 0;
    long prepared = 0;
    for (; done < took.length && System.nanoTime() < deadline; done++) {
      @Nullable Live victim = scenario.churn() && !live.isEmpty() ? drop(victims.below(live.size())) : null;
      ClaimKind kind = file.draw(arrivals, scenario.mix());
      ClaimRequest claim = request(kind, "claim-" + done);
      PodNeeds needs = sizes.of(kind);
      long start = System.nanoTime();
      if (victim != null) {
        books.remove(victim.uid());
        request(name(victim.node()), victim.kind(), -1);
      }
      cards.refresh(inventory);
      history.arrived(needs, List.of(claim));
      prepared += System.nanoTime() - start;
      Optional<Outcome.Allocated> outcome =
          allocator.place(needs, List.of(claim), EVERYWHERE, cards);
      outcome.ifPresent(allocated -> books.put(claim.claim().uid(), allocated.claims().getFirst().bookings()));
      outcome.ifPresent(allocated -> request(allocated.node(), kind, 1));
      took[done] = System.nanoTime() - start;
      if (outcome.isPresent()) {
        Live placed = placed(claim.claim().uid(), kind, outcome.get());
        keep(placed);
        placements = 31 * (31 * placements + placed.node()) + placed.gpus().hashCode();
      } else {
        placements = 31 * placements - 1;
        failed++;
      }
    }
    return report(Arrays.copyOf(took, done), failed, prepared);
  }

  private ScenarioReport report(long[] took, int failed, long prepared) {
    long sum = Arrays.stream(took).sum();
    long[] sorted = took.clone();
    Arrays.sort(sorted);
    int n = Math.max(1, took.length);
    int touched = 0;
    int freeNodes = 0;
    for (int[] node : users) {
      int ofNode = (int) Arrays.stream(node).filter(claims -> claims > 0).count();
      touched += ofNode;
      freeNodes += ofNode == 0 ? 1 : 0;
    }
    return new ScenarioReport(
        scenario.name(),
        took.length - failed,
        failed,
        took.length < scenario.claims(),
        new ScenarioReport.Times(
            sum / n, sorted.length == 0 ? 0 : sorted[n / 2], sorted.length == 0 ? 0 : sorted[n * 99 / 100],
            prepared / n),
        new ScenarioReport.CardUse(
            scenario.nodes() * scenario.gpusPerNode(), touched, (coresTotal + 99) / 100, freeNodes),
        placements);
  }

  private Live placed(String uid, ClaimKind kind, Outcome.Allocated allocated) {
    int node = Integer.parseInt(allocated.node().substring("node-".length()));
    List<Integer> gpus =
        allocated.claims().getFirst().devices().stream().map(d -> d.device().card().key().index()).toList();
    return new Live(uid, kind, node, gpus);
  }

  /** Takes what a pod with such a claim requests from its host, or gives it back. */
  private void request(String host, ClaimKind kind, int sign) {
    if (sizes.host().isNothing()) {
      return;
    }
    PodNeeds needs = sizes.of(kind);
    HostCapacities.Capacity now = capacities.of(host);
    PodNeeds left =
        new PodNeeds(now.free().milliCpu() - sign * needs.milliCpu(), now.free().memory() - sign * needs.memory());
    capacities.put(host, new HostCapacities.Capacity(left, now.total()));
  }

  /** Books the claim in the account kept apart, and refuses what must not be. */
  private void keep(Live claim) {
    ClaimKind kind = claim.kind();
    Set<Integer> distinct = new HashSet<>(claim.gpus());
    boolean right = claim.gpus().size() == kind.count() && distinct.size() == kind.count();
    right &= kind.model() == null || kind.model().equals(scenario.model(claim.node()));
    right &= !"numaNode".equals(kind.matchAttribute())
        || distinct.stream().map(g -> g / scenario.gpusPerNuma()).distinct().count() == 1;
    book(claim, 1);
    for (int gpu : claim.gpus()) {
      right &= memoryUsed[claim.node()][gpu] <= memory(claim.node()) && coresUsed[claim.node()][gpu] <= 100;
    }
    if (!right) {
      throw new IllegalStateException("wrong placement in " + scenario.name() + ": " + claim);
    }
    live.add(claim);
  }

  private Live drop(int position) {
    Live gone = live.get(position);
    Live last = live.removeLast();
    if (position < live.size()) {
      live.set(position, last);
    }
    book(gone, -1);
    return gone;
  }

  private void book(Live claim, int sign) {
    for (int gpu : claim.gpus()) {
      memoryUsed[claim.node()][gpu] +=
          sign * (claim.kind().isWhole() ? memory(claim.node()) : claim.kind().memoryMiB() * MIB);
      int cores = claim.kind().isWhole() ? 100 : claim.kind().cores();
      coresUsed[claim.node()][gpu] += sign * cores;
      users[claim.node()][gpu] += sign;
      coresTotal += (long) sign * cores;
    }
  }

  private long memory(int node) {
    String model = scenario.model(node);
    Scenarios.@Nullable Model known = file.models().get(model);
    if (known == null) {
      throw new IllegalArgumentException(
          "scenario " + scenario.name() + " has nodes of model " + model + ", which the file does not describe");
    }
    return known.memoryMiB() * MIB;
  }

  private static String name(int node) {
    return "node-%05d".formatted(node);
  }

  private GpuNode node(int n) {
    return PaperNode.of(name(n), scenario.model(n), scenario.gpusPerNode(), memory(n), scenario.gpusPerNuma());
  }

  private static Booking booking(ClaimKind kind, CardKey card) {
    return kind.isWhole()
        ? new Booking(card, DeviceMode.WHOLE, 0, 0)
        : new Booking(card, DeviceMode.SHARED, Math.max(1, kind.memoryMiB()) * MIB, kind.cores());
  }

  private static ClaimRequest request(ClaimKind kind, String name) {
    List<String> models = kind.model() == null ? List.of() : List.of(kind.model());
    List<Constraint> constraints = PaperClaim.inCommon(Optional.ofNullable(kind.matchAttribute()));
    return kind.isWhole()
        ? PaperClaim.whole(name, kind.count(), models, constraints)
        : PaperClaim.shares(name, kind.count(), models, constraints, kind.memoryMiB() * MIB, kind.cores());
  }
}
