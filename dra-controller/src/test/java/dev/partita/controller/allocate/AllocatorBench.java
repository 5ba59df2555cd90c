package dev.partita.controller.allocate;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Prints how long a claim takes, on clusters of 10, 100 and 1,000 nodes with 8 cards that are filled to two thirds with shares. A
 * program, not a test: its figures are for one machine and one run.
 */
final class AllocatorBench {
  private static final int CARDS = 8;
  private static final int MEASURED = 200;

  private AllocatorBench() {}

  public static void main(String[] arguments) {
    for (int nodes : new int[] {10, 100, 1_000}) {
      measure(nodes);
    }
  }

  private static void measure(int count) {
    List<GpuNode> nodes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nodes.add(GpuNodes.ready("node-%04d".formatted(i), CARDS, "NVIDIA H200", 140 * GpuNodes.GIB));
    }
    List<Candidate> candidates =
        Inventory.EMPTY.refreshed(nodes).hosts().values().stream().map(host -> new Candidate(host, Optional.empty())).toList();
    Allocator allocator = new Allocator(new DeviceSelectors());
    Books books = new Books();
    Random random = new Random(1);
    candidates.stream()
        .flatMap(candidate -> candidate.host().cards().stream())
        .forEach(card -> books.put("filled-" + card.key(), List.of(
            new Booking(card.key(), dev.partita.api.DeviceMode.SHARED, random.nextLong(186) * (GpuNodes.GIB / 2), random.nextInt(67)))));
    long nanos = 0;
    int allocated = 0;
    for (int i = 0; i < MEASURED + 50; i++) {
      ClaimAsk claim = Asks.claim("c" + i, Asks.share("gpu", 1, (1 + random.nextLong(16)) * GpuNodes.GIB, random.nextInt(20)));
      long start = System.nanoTime();
      Outcome outcome = allocator.allocate(List.of(claim), candidates, books);
      if (outcome instanceof Outcome.Allocated placed) {
        books.put(claim.claim().uid(), placed.claims().getFirst().bookings());
        allocated++;
      }
      nanos += i >= 50 ? System.nanoTime() - start : 0;
    }
    System.out.printf("%5d nodes x %d: %7.3f ms a claim, %d of %d allocated%n", count, CARDS, nanos / 1e6 / MEASURED, allocated, MEASURED + 50);
  }
}
