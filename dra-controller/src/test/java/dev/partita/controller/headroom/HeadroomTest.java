package dev.partita.controller.headroom;

import static dev.partita.controller.GpuNodes.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.partita.api.DeviceName;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadroomTest {
  /** Of four cards of 100 GiB each; a card that is taken as a whole is "w", else GiB and percent that shares took. */
  @ParameterizedTest
  @CsvSource({
    "0/0 0/0 0/0 0/0,             100, 4, 400, 0",
    "100/0 50/0 0/0 0/0,          100, 2, 250, 0.2",
    "38/0 38/0 38/0 36/0,         64,  0, 250, 1",
    "w w w w,                     0,   0, 0,   0",
    "w w w 40/0,                  60,  0, 60,  1",
    "w w 40/0 0/0,                100, 1, 160, 0.375",
    "100/0 100/0 100/0 100/0,     0,   0, 0,   0",
    "40/100 40/100 40/100 40/100, 60,  0, 240, 1"})
  void whatFitsFollowsFromWhatIsTaken(String taken, long largest, int whole, long free, double fragmentation) {
    Books books = new Books();
    String[] cards = taken.split(" ", -1);
    for (int i = 0; i < cards.length; i++) {
      CardKey card = new CardKey("node-0", i);
      if (cards[i].equals("w")) {
        books.put("claim-" + i, List.of(new Booking(card, new DeviceName.Whole(i), 0, 0)));
      } else if (!cards[i].equals("0/0")) {
        String[] part = cards[i].split("/", -1);
        books.put("claim-" + i, List.of(new Booking(card, new DeviceName.Shared(i), Long.parseLong(part[0]) * GIB,
            Integer.parseInt(part[1]))));
      }
    }
    Headroom headroom = of(hosts(List.of(GpuNodes.ready("node-0", 4, "NVIDIA H200", 100 * GIB))), books);
    assertThat(headroom).isEqualTo(new Headroom(largest * GIB, whole, free * GIB, whole * 100L * GIB));
    assertThat(headroom.fragmentation()).isEqualTo(fragmentation, within(1e-9));
  }

  @Test
  void modelsAreCountedApartAndHostsThatAreClosedForNothing() {
    Collection<GpuHost> hosts = hosts(List.of(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GIB),
        GpuNodes.ready("node-1", 3, "NVIDIA L4", 20 * GIB), GpuNodes.ready("node-2", 1, "NVIDIA L4", 20 * GIB),
        GpuNodes.ready("node-3", 1, "NVIDIA A100", 40 * GIB)));
    Map<String, Headroom> headroom = Headroom.byModel(hosts, card -> Account.EMPTY,
        host -> !List.of("node-2", "node-3").contains(host.name()));
    assertThat(headroom).containsExactly(Map.entry("a100", Headroom.NONE),
        Map.entry("h200", new Headroom(100 * GIB, 2, 200 * GIB, 200 * GIB)),
        Map.entry("l4", new Headroom(20 * GIB, 3, 60 * GIB, 60 * GIB)));
  }

  @Test
  void fortyThousandCardsAreMeasuredWithinATenthOfASecond() {
    List<GpuNode> nodes = new ArrayList<>();
    Books books = new Books();
    for (int i = 0; i < 5_000; i++) {
      String node = "node-" + i;
      nodes.add(GpuNodes.ready(node, 8, "NVIDIA H200", 100 * GIB));
      books.put(node, IntStream.range(0, 6).mapToObj(
          card -> new Booking(new CardKey(node, card), new DeviceName.Shared(card), 30 * GIB, 25)).toList());
    }
    Collection<GpuHost> hosts = hosts(nodes);
    long best = Long.MAX_VALUE;
    Headroom headroom = Headroom.NONE;
    for (int i = 0; i < 20; i++) {
      long start = System.nanoTime();
      headroom = of(hosts, books);
      best = Math.min(best, System.nanoTime() - start);
    }
    System.out.printf("what fits of 40,000 cards: %.1f ms%n", best / 1e6);
    assertThat(headroom.wholeCards()).isEqualTo(10_000);
    assertThat(best).isLessThan(100_000_000);
  }

  private static Headroom of(Collection<GpuHost> hosts, Books books) {
    return Headroom.byModel(hosts, books, host -> true).getOrDefault("h200", Headroom.NONE);
  }

  private static Collection<GpuHost> hosts(List<GpuNode> nodes) {
    return Inventory.EMPTY.refreshed(nodes).hosts().values();
  }
}
