package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.allocate.Scenarios.ClaimKind;
import dev.partita.controller.allocate.Scenarios.Numbers;
import dev.partita.controller.allocate.Scenarios.Prefilled;
import dev.partita.controller.allocate.Scenarios.Scenario;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Plays one scenario: claim by claim through allocator and books, timed, and every placement checked against an account of the
 * cards that is kept apart and outside the time.
 */
final class ScenarioRun {
  private static final long MIB = 1L << 20;
  private static final Candidates EVERYWHERE = host -> Optional.empty();

  private final Scenarios file;
  private final Scenario scenario;
  private final boolean scan;
  private final Inventory inventory;
  private final Books books = new Books();
  private final FreeCards cards = new FreeCards(books);
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private final List<Live> live = new ArrayList<>();
  private final long[][] memoryUsed;
  private final int[][] coresUsed;
  private long coresTotal;

  private record Live(String uid, ClaimKind kind, int node, List<Integer> gpus) {}

  /** What came of it; the names are those of the comparison's output. */
  record Report(
      String scenario, int allocated, int failed, boolean cut, long nsPerClaim, long p50Ns, long p99Ns, int gpus, int gpusTouched, long gpusFloor, int freeNodes) {
    String json() {
      return ("{\"scenario\":\"%s\",\"version\":\"partita\",\"workers\":1,\"allocated\":%d,\"failed\":%d,\"cut\":%b,\"nsPerClaim\":%d,\"p50Ns\":%d,"
              + "\"p99Ns\":%d,\"gpus\":%d,\"gpusTouched\":%d,\"gpusFloor\":%d,\"freeNodes\":%d}")
          .formatted(scenario, allocated, failed, cut, nsPerClaim, p50Ns, p99Ns, gpus, gpusTouched, gpusFloor, freeNodes);
    }
  }

  private ScenarioRun(Scenarios file, Scenario scenario, boolean scan) {
    this.file = file;
    this.scenario = scenario;
    this.scan = scan;
    List<GpuNode> nodes = new ArrayList<>();
    for (int n = 0; n < scenario.nodes(); n++) {
      nodes.add(node(n));
    }
    this.inventory = Inventory.EMPTY.refreshed(nodes);
    this.memoryUsed = new long[scenario.nodes()][scenario.gpusPerNode()];
    this.coresUsed = new int[scenario.nodes()][scenario.gpusPerNode()];
  }

  /** @param scan whether to look at every host for every claim, to see what the order of free cards is worth */
  static Report play(Scenarios file, Scenario scenario, boolean scan) {
    return new ScenarioRun(file, scenario, scan).play();
  }

  private Report play() {
    for (int n = 0; n < scenario.nodes(); n++) {
      for (Prefilled prefilled : file.prefill(scenario)) {
        ClaimKind kind = file.kind(prefilled.claim());
        String uid = "prefill-" + live.size();
        books.put(uid, List.of(booking(kind, new CardKey(name(n), prefilled.gpu()))));
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
    for (; done < took.length && System.nanoTime() < deadline; done++) {
      @Nullable Live victim = scenario.churn() && !live.isEmpty() ? drop(victims.below(live.size())) : null;
      ClaimKind kind = file.draw(arrivals, scenario.mix());
      ClaimAsk claim = ask(kind, "claim-" + done);
      long start = System.nanoTime();
      if (victim != null) {
        books.remove(victim.uid());
      }
      cards.refresh(inventory);
      Optional<Outcome.Allocated> outcome =
          scan ? allocator.placeByScan(List.of(claim), EVERYWHERE, cards) : allocator.place(List.of(claim), EVERYWHERE, cards);
      outcome.ifPresent(allocated -> books.put(claim.claim().uid(), allocated.claims().getFirst().bookings()));
      took[done] = System.nanoTime() - start;
      if (outcome.isPresent()) {
        keep(placed(claim.claim().uid(), kind, outcome.get()));
      } else {
        failed++;
      }
    }
    return report(Arrays.copyOf(took, done), failed);
  }

  private Report report(long[] took, int failed) {
    long sum = Arrays.stream(took).sum();
    long[] sorted = took.clone();
    Arrays.sort(sorted);
    int n = Math.max(1, took.length);
    int touched = 0;
    int freeNodes = 0;
    for (int[] node : coresUsed) {
      int ofNode = (int) Arrays.stream(node).filter(cores -> cores > 0).count();
      touched += ofNode;
      freeNodes += ofNode == 0 ? 1 : 0;
    }
    return new Report(
        scenario.name(),
        took.length - failed,
        failed,
        took.length < scenario.claims(),
        sum / n,
        sorted.length == 0 ? 0 : sorted[n / 2],
        sorted.length == 0 ? 0 : sorted[n * 99 / 100],
        scenario.nodes() * scenario.gpusPerNode(),
        touched,
        (coresTotal + 99) / 100,
        freeNodes);
  }

  private Live placed(String uid, ClaimKind kind, Outcome.Allocated allocated) {
    int node = Integer.parseInt(allocated.node().substring("node-".length()));
    List<Integer> gpus = allocated.claims().getFirst().devices().stream().map(d -> d.device().card().key().index()).toList();
    return new Live(uid, kind, node, gpus);
  }

  /** Books the claim in the account kept apart, and refuses what must not be. */
  private void keep(Live claim) {
    ClaimKind kind = claim.kind();
    Set<Integer> distinct = new HashSet<>(claim.gpus());
    boolean right = claim.gpus().size() == kind.count() && distinct.size() == kind.count();
    right &= kind.model() == null || kind.model().equals(scenario.model(claim.node()));
    right &= !"numaNode".equals(kind.matchAttribute()) || distinct.stream().map(g -> g / scenario.gpusPerNuma()).distinct().count() == 1;
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
      memoryUsed[claim.node()][gpu] += sign * (claim.kind().isWhole() ? memory(claim.node()) : claim.kind().memoryMiB() * MIB);
      int cores = claim.kind().isWhole() ? 100 : claim.kind().cores();
      coresUsed[claim.node()][gpu] += sign * cores;
      coresTotal += (long) sign * cores;
    }
  }

  private long memory(int node) {
    return Objects.requireNonNull(file.models().get(scenario.model(node))).memoryMiB() * MIB;
  }

  private static String name(int node) {
    return "node-%05d".formatted(node);
  }

  private GpuNode node(int n) {
    String model = scenario.model(n);
    List<Gpu> gpus = new ArrayList<>();
    for (int g = 0; g < scenario.gpusPerNode(); g++) {
      Gpu plain = GpuNodes.card(name(n), g, model, Objects.requireNonNull(file.models().get(model)).memoryMiB() * MIB, GpuHealth.HEALTHY);
      gpus.add(
          new Gpu(
              g, g, plain.uuid(), model, model, plain.brand(), plain.architecture(), plain.cudaComputeCapability(), plain.memoryBytes(),
              plain.pciBusId(), plain.pcieRoot(), g / scenario.gpusPerNuma(), plain.nvlinkDomain(), plain.health()));
    }
    return GpuNodes.ready(name(n), GpuNodeSpec.DEFAULT, gpus);
  }

  private static Booking booking(ClaimKind kind, CardKey card) {
    return kind.isWhole()
        ? new Booking(card, DeviceMode.WHOLE, 0, 0)
        : new Booking(card, DeviceMode.SHARED, Math.max(1, kind.memoryMiB()) * MIB, kind.cores());
  }

  private static ClaimAsk ask(ClaimKind kind, String name) {
    List<DeviceAsk.Selector> selectors = new ArrayList<>();
    selectors.add(Asks.mode(kind.isWhole() ? DeviceMode.WHOLE : DeviceMode.SHARED));
    if (kind.model() != null) {
      selectors.add(Asks.model(kind.model()));
    }
    List<Constraint> constraints =
        switch (kind.matchAttribute()) {
          case null -> List.of();
          case "numaNode" -> List.of(new Constraint.Match("resource.kubernetes.io/numaNode", List.of()));
          default -> List.of(new Constraint.Match("gpu.partita.dev/" + kind.matchAttribute(), List.of()));
        };
    DeviceAsk ask =
        Asks.ask(
            "gpu",
            selectors,
            new DeviceAsk.Count.Exactly(kind.count()),
            kind.isWhole() ? OptionalLong.empty() : OptionalLong.of(kind.memoryMiB() * MIB),
            kind.isWhole() ? OptionalLong.empty() : OptionalLong.of(kind.cores()));
    return Asks.claim(name, constraints, ask);
  }
}
