package dev.partita.controller.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.FleetCount;
import dev.partita.controller.fleet.PaperFleet;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.web.view.ClaimsView;
import dev.partita.controller.web.view.NodesView;
import dev.partita.controller.web.view.PaperSight;
import dev.partita.controller.web.view.Query;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Prints what the web page costs the controller in a cluster of 5,000 nodes with 40,000 cards and 80,000 claims. */
final class PageBench {
  private static final int NODES = 5_000;
  private static final int CARDS = 8;
  private static final int CLAIMS_A_CARD = 2;
  private static final int ROUNDS = 9;
  private static final ObjectMapper JSON = new ObjectMapper();

  private PageBench() {}

  public static void main(String[] arguments) {
    List<GpuNode> nodes = IntStream.range(0, NODES).mapToObj(i -> PaperFleet.node("node-" + i, CARDS)).toList();
    List<ResourceClaim> claims = new ArrayList<>();
    for (int i = 0; i < NODES * CARDS * CLAIMS_A_CARD; i++) {
      claims
          .add(PaperFleet.used(PaperFleet.share("team-" + i % 300, "claim-" + i, "node-" + i / (CARDS * CLAIMS_A_CARD),
              i / CLAIMS_A_CARD % CARDS, 20, 10), 5, 6, 7));
    }
    Inventory inventory = Inventory.EMPTY.refreshed(nodes);
    FleetCount count = FleetCount.NONE.refreshed(inventory, nodes, claims);
    Fleet fleet = count.fleet();
    System.out.println("| what | ms, median | bytes |");
    System.out.println("| --- | ---: | ---: |");
    row("count the fleet, once for all viewers",
        () -> FleetCount.NONE.refreshed(inventory, nodes, claims).fleet().nodes().isEmpty() ? "" : "-");
    row("the same after a count of it",
        () -> count.refreshed(inventory, nodes, claims).fleet().nodes().isEmpty() ? "" : "-");
    row("a viewer's page of nodes", () -> text(NodesView.of(fleet, Query.of(Map.of()), PaperSight.EVERYTHING)));
    row("the same, sorted by what is used", () -> text(NodesView.of(fleet, Query.of(Map.of("sort", "used")),
        PaperSight.EVERYTHING)));
    row("the same, searched for a claim",
        () -> text(NodesView.of(fleet, Query.of(Map.of("q", "claim-79999")), PaperSight.EVERYTHING)));
    row("a viewer's page of claims", () -> text(ClaimsView.of(fleet, Query.of(Map.of()), PaperSight.EVERYTHING)));
  }

  private static void row(String what, Supplier<String> work) {
    List<Long> times = new ArrayList<>();
    int bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      bytes = work.get().length();
      times.add(System.nanoTime() - begin);
    }
    times.sort(null);
    System.out.printf(Locale.ROOT, "| %s | %.0f | %d |%n", what, times.get(ROUNDS / 2) / 1e6, bytes);
  }

  private static String text(Object view) {
    try {
      return JSON.writeValueAsString(view);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
