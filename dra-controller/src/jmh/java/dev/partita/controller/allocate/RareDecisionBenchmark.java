package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One decision about a request that no order of cards answers: by looking at what must be looked at, and at every node.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(
    iterations = 2, time = 2)
@Measurement(iterations = 3, time = 2)
public class RareDecisionBenchmark {
  private static final long MIB = 1L << 20;
  private static final Candidates EVERYWHERE = host -> Optional.empty();

  @Param({"100", "5000"}) public int nodes;

  @Param({"lookup", "scan"}) public String way;

  /** Whether hardly two nodes are equally full, or every tenth is as full as the first. */
  @Param({"different", "alike"}) public String cluster;

  private final Books books = new Books();
  private final FreeCards cards = new FreeCards(books);
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private Inventory inventory = Inventory.EMPTY;
  private long size;

  @Setup
  public void fill() {
    List<GpuNode> made = new ArrayList<>();
    Random random = new Random(1);
    for (int n = 0; n < nodes; n++) {
      random = cluster.equals("alike") ? new Random(n % 10) : random;
      String name = "node-%05d".formatted(n);
      made.add(GpuNodes.ready(name, 8, "NVIDIA H200", 140 * GpuNodes.GIB));
      for (int g = 0; g < 8; g++) {
        if (random.nextInt(4) > 0) {
          Booking booking = new Booking(new CardKey(name, g), DeviceMode.SHARED,
              (4L + random.nextInt(100)) * GpuNodes.GIB, 5 * random.nextInt(16));
          books.put(name + g, List.of(booking));
        }
      }
    }
    inventory = Inventory.EMPTY.refreshed(made);
  }

  @Benchmark
  public Optional<Outcome.Allocated> eightShares() {
    return decide(Requests.claim("eight", Requests.share("gpu", 8, 8 * GpuNodes.GIB, 5)));
  }

  @Benchmark
  public Optional<Outcome.Allocated> twoClaims() {
    return decide(Requests.claim("one", Requests.share("gpu", 1, 8 * GpuNodes.GIB, 25)),
        Requests.claim("two", Requests.whole("gpu", 1)));
  }

  @Benchmark
  public Optional<Outcome.Allocated> spread() {
    DeviceRequest request = Requests.share("gpu", 1, 8 * GpuNodes.GIB, 25);
    Placement placement = request.placement().packed(Packing.SPREAD, Packing.SPREAD);
    return decide(Requests.claim("spread",
        request.placed(placement)));
  }

  @Benchmark
  public Optional<Outcome.Allocated> uuid() {
    return decide(chosen("device.attributes[\"gpu.partita.dev\"].uuid == \"GPU-node-%05d-3\"".formatted(nodes / 2)));
  }

  @Benchmark
  public Optional<Outcome.Allocated> numa() {
    return decide(chosen("device.attributes[\"resource.kubernetes.io\"].numaNode == 1"));
  }

  @Benchmark
  public Optional<Outcome.Allocated> allShares() {
    DeviceRequest one = Requests.share("gpu", 1, 8 * GpuNodes.GIB, 5);
    return decide(
        Requests.claim("all", Requests.all(one)));
  }

  /** Claims that nobody has asked for before. */
  @Benchmark
  public Optional<Outcome.Allocated> eightSharesOfANewSize() {
    size = size % (100 * MIB) + MIB;
    return decide(Requests.claim("new", Requests.share("gpu", 8, 8 * GpuNodes.GIB + size, 5)));
  }

  /** Why a claim fits nowhere, node by node and card by card. */
  @Benchmark
  public Outcome explanation() {
    cards.refresh(inventory);
    return allocator.allocate(PodNeeds.NONE,
        List.of(Requests.claim("huge", Requests.share("gpu", 1, 139 * GpuNodes.GIB, 100), Requests.whole("q", 9))),
        EVERYWHERE,
        cards);
  }

  /** The same and what an event says of it. */
  @Benchmark
  public String explanationInWords() {
    return ((Outcome.Unallocatable) explanation()).explanation().summary(1024);
  }

  private static ClaimRequest chosen(String expression) {
    DeviceRequest.Selector selector = new DeviceRequest.Selector("request", expression);
    return Requests.claim(
        "chosen",
        Requests.request("gpu", List.of(Requests.mode(DeviceMode.SHARED), selector), new DeviceRequest.Count.Exactly(1),
            OptionalLong.of(GpuNodes.GIB), OptionalLong.empty()));
  }

  private Optional<Outcome.Allocated> decide(ClaimRequest... claims) {
    cards.refresh(inventory);
    Optional<Outcome.Allocated> outcome =
        way.equals("lookup")
            ? allocator.place(PodNeeds.NONE, List.of(claims), EVERYWHERE, cards)
            : allocator.placeByScan(List.of(claims), EVERYWHERE, cards);
    outcome
        .ifPresent(allocated -> allocated.claims().forEach(claim -> books.put(claim.claim().uid(), claim.bookings())));
    outcome.ifPresent(allocated -> allocated.claims().forEach(claim -> books.remove(claim.claim().uid())));
    return outcome;
  }
}
