package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.reasons.NodeRefusal.CardsUnfit;
import dev.partita.controller.reasons.NodeRefusal;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is said once for all nodes that are alike. */
class AlikeNodesTest {
  private static final Candidates EVERYWHERE = host -> Optional.empty();

  private final Books books = new Books();
  private final FreeCards cards = new FreeCards(books);
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private Inventory inventory = Inventory.EMPTY;

  @Test
  void nodesThatAreAlikeShareTheirReasonsAndEveryNodeHasItsOwn() {
    refresh(6);
    List<Booking> taken = new ArrayList<>();
    for (int node = 0; node < 6; node++) {
      taken.add(share("node-" + node, node == 5 ? 3 : 2, 100));
    }
    books.put("all", taken);
    refresh(6);
    List<ClaimRequest> claims = List.of(Requests.claim("claim", Requests.share("gpu", 4, 60 * GpuNodes.GIB, 0)));
    Explanation explanation = allocator.explain(claims, EVERYWHERE, cards);
    assertThat(explanation).isEqualTo(allocator.explainOneByOne(claims, EVERYWHERE, cards))
        .isEqualTo(allocator.explain(claims, EVERYWHERE, cards));
    assertThat(explanation.nodes()).extracting(NodeRefusal::node).containsExactly("node-0", "node-1", "node-2",
        "node-3", "node-4", "node-5");
    CardsUnfit first = unfit(explanation, 1);
    assertThat(first.refusals()).containsOnlyKeys(2);
    assertThat(unfit(explanation, 4).refusals()).isSameAs(first.refusals());
    assertThat(unfit(explanation, 5).refusals()).containsOnlyKeys(3);
    assertThat(explanation.summary(900)).contains("6 cards on 6 nodes: 40 GiB free of 60 GiB asked");
  }

  @Test
  void whyACardIsNotOfferedIsSaidOfEachNodeByItself() {
    List<Gpu> ofFirst = GpuNodes.cards("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
    List<Gpu> ofSecond = GpuNodes.cards("node-1", 2, "NVIDIA H200", 140 * GpuNodes.GIB);
    List<Gpu> ofThird = GpuNodes.cards("node-2", 3, "NVIDIA H200", 140 * GpuNodes.GIB);
    cards.refresh(
        Inventory.EMPTY.refreshed(
            List.of(
                GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT,
                    List.of(ofFirst.getFirst().withServedBy(List.of(new OtherServer("nvidia.com/gpu", true, 0))))),
                GpuNodes.ready("node-1", withholding(ofSecond.get(1)), List.of(ofSecond.get(1))),
                GpuNodes.ready("node-2", withholding(ofThird.get(2)), List.of(ofThird.get(2))))));
    List<ClaimRequest> claims = List.of(Requests.claim("claim", Requests.share("gpu", 1, GpuNodes.GIB, 0)));
    Explanation explanation = allocator.explain(claims, EVERYWHERE, cards);
    assertThat(explanation.summary(900)).contains("1 card on node-0: handed out as nvidia.com/gpu",
        "2 cards on 2 nodes: not offered at all");
    assertThat(unfit(explanation, 1).refusals()).containsOnlyKeys(1);
    assertThat(unfit(explanation, 2).refusals()).containsOnlyKeys(2);
  }

  private static GpuNodeSpec withholding(Gpu card) {
    return new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(card.uuid()));
  }

  @Test
  void ofNodesThatAreAlikeTheOneIsTakenThatALookAtEachWouldTake() {
    refresh(4);
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<ClaimRequest> claims =
          List.of(Requests.claim("claim-" + i, Requests.share("gpu", 3, 60 * GpuNodes.GIB, 30)));
      Outcome.Allocated allocated = allocator.place(PodNeeds.NONE, claims, EVERYWHERE, cards).orElseThrow();
      assertThat(allocator.placeByScan(claims, EVERYWHERE, cards)).contains(allocated);
      taken.add(allocated.node());
      allocated.claims().forEach(claim -> books.put(claim.claim().uid(), claim.bookings()));
      refresh(4);
    }
    assertThat(taken).first().isEqualTo("node-0");
  }

  private void refresh(int nodes) {
    if (inventory == Inventory.EMPTY) {
      List<GpuNode> made = new ArrayList<>();
      for (int n = 0; n < nodes; n++) {
        made.add(GpuNodes.ready("node-" + n, 4, "NVIDIA H200", 140 * GpuNodes.GIB));
      }
      inventory = inventory.refreshed(made);
    }
    cards.refresh(inventory);
  }

  private static Booking share(String node, int card, long gib) {
    return new Booking(new CardKey(node, card), DeviceMode.SHARED, gib * GpuNodes.GIB, 10);
  }

  private static CardsUnfit unfit(Explanation explanation, int node) {
    return (CardsUnfit) explanation.nodes().get(node);
  }
}
