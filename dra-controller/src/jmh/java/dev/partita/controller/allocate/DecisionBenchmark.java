package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

/** One decision on a half full cluster, booked and given back: with the order of free cards, and with a forecast. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(
    iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class DecisionBenchmark {
  private static final Candidates EVERYWHERE = host -> Optional.empty();

  @Param({"100", "1000", "5000"}) public int nodes;

  /** Whether pods request CPU, and so are placed by the forecast. */
  @Param({"false", "true"}) public boolean forecast;

  private final Books books = new Books();
  private final HostCapacities capacities = new HostCapacities();
  private final DemandHistory history = new DemandHistory();
  private final FreeCards cards = new FreeCards(books, capacities, history);
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private final ClaimRequest share = Requests.claim("share", Requests.share("gpu", 1, 8 * GpuNodes.GIB, 25));
  private final ClaimRequest four = Requests.claim("four", Requests.whole("gpu", 4));
  private PodNeeds needs = PodNeeds.NONE;
  private Inventory inventory = Inventory.EMPTY;

  @Setup
  public void fill() {
    List<dev.partita.api.node.GpuNode> made = new ArrayList<>();
    for (int n = 0; n < nodes; n++) {
      String name = "node-%05d".formatted(n);
      made.add(GpuNodes.ready(name, 8, "NVIDIA H200", 140 * GpuNodes.GIB));
      PodNeeds total = new PodNeeds(96_000, 384 * GpuNodes.GIB);
      capacities.put(name,
          new HostCapacities.Capacity(new PodNeeds(96_000 - 4_000L * (n % 12), 200 * GpuNodes.GIB), total));
      for (int g = 0; g < 4; g++) {
        CardKey card = new CardKey(name, g);
        books.put(name + g, List.of(
            new Booking(card, DeviceMode.SHARED, (8L + 8 * ((n + g) % 9)) * GpuNodes.GIB, 10 + 10 * ((n + g) % 7))));
      }
    }
    inventory = Inventory.EMPTY.refreshed(made);
    needs = forecast ? new PodNeeds(8_000, 16 * GpuNodes.GIB) : PodNeeds.NONE;
    for (int i = 0; i < 40; i++) {
      history.arrived(needs, List.of(i % 10 == 0 ? four : share));
    }
  }

  @Benchmark
  public Optional<Outcome.Allocated> oneShare() {
    return decide(share);
  }

  @Benchmark
  public Optional<Outcome.Allocated> fourWholeCards() {
    return decide(four);
  }

  private Optional<Outcome.Allocated> decide(ClaimRequest claim) {
    cards.refresh(inventory);
    Optional<Outcome.Allocated> outcome = allocator.place(needs, List.of(claim), EVERYWHERE, cards);
    outcome.ifPresent(allocated -> books.put("bench", allocated.claims().getFirst().bookings()));
    books.remove("bench");
    return outcome;
  }
}
