package dev.partita.controller.web.view;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LONG;

import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.PaperFleet;
import dev.partita.controller.fleet.Totals;
import dev.partita.controller.fleet.WaitingPod;
import dev.partita.controller.history.Sample;
import dev.partita.controller.quota.QuotaLedger;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ViewsTest {
  private static final long GIB = PaperFleet.GIB;
  private static final Query ALL = Query.of(Map.of());
  private static final Sight EVERYTHING = PaperSight.of("a", "b");

  /** Three claims on one card, and a card that is free. */
  private final Fleet fleet =
      Fleet.of(List.of(PaperFleet.node("node-0", 2)),
          List.of(PaperFleet.used(PaperFleet.share("a", "one", "node-0", 0, 20, 10), 5, 6, 7),
              PaperFleet.share("b", "two", "node-0", 0, 30, 20), PaperFleet.share("b", "three", "node-0", 0, 10, 0)));

  private CardRow firstCard(Sight sight) {
    return NodesView.of(fleet, ALL, sight).nodes().rows().getFirst().cards().getFirst();
  }

  @Test
  void aCardIsShownWithWhatEachClaimHasAndUses() {
    CardRow card = firstCard(EVERYTHING);
    assertThat(card.memoryAllocated()).isEqualTo(60 * GIB);
    assertThat(card.coresAllocated()).isEqualTo(30);
    assertThat(card.parts()).extracting(Part::claim).containsExactly("one", "three", "two");
    assertThat(card.parts().getFirst())
        .isEqualTo(new Part(Part.Kind.share, "a", "one", 20 * GIB, 5 * GIB, 10, 7L, List.of("one")));
  }

  @Test
  void whatOthersHaveIsShownAsOneAmountWithoutNames() {
    CardRow card = firstCard(PaperSight.of("a"));
    assertThat(card.parts()).extracting(Part::kind).containsExactly(Part.Kind.share, Part.Kind.others);
    assertThat(card.parts().getLast()).isEqualTo(Part.nameless(Part.Kind.others, 40 * GIB, 20));
  }

  @Test
  void aSearchFindsNodesByClaimsThatTheViewerMaySeeOnly() {
    Query query = Query.of(Map.of("q", "TWO"));
    assertThat(NodesView.of(fleet, query, EVERYTHING).nodes().total()).isEqualTo(1);
    assertThat(NodesView.of(fleet, query, PaperSight.of("a")).nodes().total()).isZero();
    assertThat(NodesView.of(fleet, query, PaperSight.of("a")).totals().cards()).as("of all, whatever is searched")
        .isEqualTo(2);
  }

  @Test
  void aSearchFindsNodesByAClaimAsItIsShown() {
    assertThat(NodesView.of(fleet, Query.of(Map.of("q", "b/two")), EVERYTHING).nodes().total()).isEqualTo(1);
    assertThat(NodesView.of(fleet, Query.of(Map.of("q", "a/two")), EVERYTHING).nodes().total()).isZero();
  }

  @Test
  void claimsAreThoseThatTheViewerMaySee() {
    assertThat(ClaimsView.of(fleet, ALL, PaperSight.of("b")).claims().rows()).extracting(row -> row.part().claim())
        .containsExactly("three", "two");
    assertThat(ClaimsView.of(fleet, Query.of(Map.of("sort", "memory")), EVERYTHING).claims().rows())
        .extracting(row -> row.part().claim()).containsExactly("two", "one", "three");
    assertThat(ClaimsView.of(fleet, Query.of(Map.of("sort", "used")), EVERYTHING).claims().rows().getFirst().part()
        .claim()).isEqualTo("one");
  }

  @Test
  void aWholeCardCountsWithAllItsMemoryAndCores() {
    Fleet whole = Fleet.of(List.of(PaperFleet.node("node-0", 1)), List.of(PaperFleet.whole("a", "w", "node-0", 0)));
    Part part = NodesView.of(whole, ALL, EVERYTHING).nodes().rows().getFirst().cards().getFirst().parts().getFirst();
    assertThat(part.kind()).isEqualTo(Part.Kind.whole);
    assertThat(part.memory()).isEqualTo(140 * GIB);
    assertThat(part.cores()).isEqualTo(100);
  }

  /** 140 GiB are no multiple of three. */
  @Test
  void ofACardInTurnNothingIsHeldForClaimsThatAreGoneWhereNoneIs() {
    Fleet turns = Fleet.of(List.of(PaperFleet.node("node-0", 1)), List.of(PaperFleet.turn("a", "one", "node-0", 0),
        PaperFleet.turn("a", "two", "node-0", 0), PaperFleet.turn("b", "three", "node-0", 0)));
    CardRow card = NodesView.of(turns, ALL, EVERYTHING).nodes().rows().getFirst().cards().getFirst();
    assertThat(card.memoryAllocated()).isEqualTo(140 * GIB);
    assertThat(card.parts()).extracting(Part::kind).containsExactly(Part.Kind.turn, Part.Kind.turn, Part.Kind.turn);
  }

  @Test
  void whatIsAboutToBeAllocatedIsItsClaimsAndNotHeldForOneThatIsGone() {
    Fleet now = Fleet.of(List.of(PaperFleet.node("node-0", 1)),
        List.of(PaperFleet.proposed("a", "next", "node-0", 0, 20, 10)));
    CardRow card = NodesView.of(now, ALL, EVERYTHING).nodes().rows().getFirst().cards().getFirst();
    assertThat(card.memoryAllocated()).isEqualTo(20 * GIB);
    assertThat(card.parts())
        .containsExactly(new Part(Part.Kind.share, "a", "next", 20 * GIB, null, 10, null, List.of()));
    assertThat(NodesView.of(now, ALL, PaperSight.of("b")).nodes().rows().getFirst().cards().getFirst().parts())
        .containsExactly(Part.nameless(Part.Kind.others, 20 * GIB, 10));
  }

  @Test
  void aPageHasFiftyRowsAndOneBeyondTheLastIsTheLast() {
    List<GpuNode> nodes =
        IntStream.range(0, 120).mapToObj(i -> PaperFleet.node("node-%03d".formatted(i), 1)).toList();
    Fleet large = Fleet.of(nodes, List.of());
    Paged<NodesView.Row> page = NodesView.of(large, Query.of(Map.of("page", "99")), EVERYTHING).nodes();
    assertThat(page.page()).isEqualTo(3);
    assertThat(page.pages()).isEqualTo(3);
    assertThat(page.total()).isEqualTo(120);
    assertThat(page.rows()).hasSize(20).first().extracting(NodesView.Row::name).isEqualTo("node-100");
    assertThat(NodesView.of(large, ALL, EVERYTHING).nodes().rows()).hasSize(50);
  }

  @Test
  void nodesAreSortedAsIsAsked() {
    Fleet two = Fleet.of(List.of(PaperFleet.node("empty", 1), PaperFleet.node("full", 1)),
        List.of(PaperFleet.whole("a", "w", "full", 0)));
    assertThat(names(two, "")).containsExactly("empty", "full");
    assertThat(names(two, "allocated")).containsExactly("full", "empty");
    assertThat(names(two, "free")).containsExactly("empty", "full");
    assertThat(names(two, "unheard of")).containsExactly("empty", "full");
  }

  private static List<String> names(Fleet fleet, String sort) {
    return NodesView.of(fleet, Query.of(Map.of("sort", sort)), EVERYTHING).nodes().rows().stream()
        .map(NodesView.Row::name).toList();
  }

  @Test
  void aMalformedQueryAsksForTheFirstPageOfAll() {
    assertThat(Query.of(Map.of("page", "-1"))).isEqualTo(ALL);
    assertThat(Query.of(Map.of("page", "99999999999"))).isEqualTo(ALL);
    assertThat(Query.of(Map.of("q", "x".repeat(10_000))).text()).hasSize(253);
  }

  @Test
  void podsThatWaitedLongestStandFirst() {
    WaitingPod late = new WaitingPod("a", "late", "2026-01-02T00:00:00Z", "Unallocatable", "no card");
    WaitingPod early = new WaitingPod("a", "early", "2026-01-01T00:00:00Z", "Unallocatable", "no card");
    WaitingPod hidden = new WaitingPod("c", "hidden", "2025-01-01T00:00:00Z", "Unallocatable", "no card");
    assertThat(PodsView.of(List.of(late, hidden, early), ALL, EVERYTHING).pods().rows())
        .containsExactly(early, late);
  }

  @Test
  void aQuotaShowsWhichNamespacesHaveMostAndTheOthersTogether() {
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(new GpuQuotaSpec(null, List.of(new GpuQuotaSpec.Limit("all", List.of(), null,
        new Amounts(new Quantity("48Gi"), null, null, null), Amounts.UNLIMITED))));
    var uses =
        Map.of("team-a", Map.of("all", List.of(use("a", 2, 10), use("b", 5, 0), use("hidden", 9, 30), use("c", 1, 1))));
    QuotasView.LimitRow limit =
        QuotasView.of(List.of(quota), uses, ALL, PaperSight.of("a", "b")).quotas().rows().getFirst().limits()
            .getFirst();
    assertThat(limit.namespaces()).containsExactly(
        new QuotasView.NamespaceRow("b", 5 * GIB, 0, 1, 1), new QuotasView.NamespaceRow("a", 2 * GIB, 10, 1, 1),
        new QuotasView.NamespaceRow("", 10 * GIB, 31, 2, 2));
  }

  @Test
  void aQuotaOfManyNamespacesNamesAFewOfThem() {
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("all");
    quota.setSpec(new GpuQuotaSpec(null, List.of(new GpuQuotaSpec.Limit("", List.of(), null,
        new Amounts(null, null, null, 100L), Amounts.UNLIMITED))));
    List<String> names = IntStream.range(0, 30).mapToObj("n%02d"::formatted).toList();
    var uses = Map.of("all", Map.of("", names.stream().map(name -> use(name, 1, 1)).toList()));
    QuotasView.LimitRow limit =
        QuotasView.of(List.of(quota), uses, ALL, PaperSight.of(names.toArray(String[]::new))).quotas().rows().getFirst()
            .limits().getFirst();
    assertThat(limit.namespaces()).hasSize(21).last().isEqualTo(new QuotasView.NamespaceRow("", 10 * GIB, 10, 10, 10));
  }

  private static QuotaLedger.NamespaceUse use(String namespace, long gib, long cores) {
    return new QuotaLedger.NamespaceUse(namespace, new Amounts(new Quantity(gib + "Gi"), cores, 1L, 1L));
  }

  @Test
  void aQuotaShowsWhatItNamesAndNothingElse() {
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(new GpuQuotaSpec(null, List.of(new GpuQuotaSpec.Limit("all", List.of("h200"), null,
        new Amounts(new Quantity("48Gi"), null, 2L, null), new Amounts(null, 150L, null, null)))));
    quota.setStatus(new GpuQuotaStatus(3, null, "",
        List.of(new GpuQuotaStatus.LimitUse("all", new Amounts(new Quantity("50Gi"), 20L, 1L, 7L), true)), ""));
    QuotasView.Row row = QuotasView.of(List.of(quota), Map.of(), ALL, EVERYTHING).quotas().rows().getFirst();
    assertThat(row.namespaces()).isEqualTo(3);
    assertThat(row.limits().getFirst().borrows()).isTrue();
    assertThat(row.limits().getFirst().amounts()).containsExactly(
        new QuotasView.AmountRow("memory", 50 * GIB, 48 * GIB, null),
        new QuotasView.AmountRow("cores", 20, null, 150L), new QuotasView.AmountRow("cards", 1, 2L, null));
  }

  private List<Sample> everyMinute(IntStream minutes) {
    Totals totals = Totals.of(fleet);
    return minutes.mapToObj(minute -> new Sample(minute * 60L, totals, minute)).toList();
  }

  @Test
  void aDayIsShownByAsManyPointsAsACurveNeedsTheLastAmongThem() {
    HistoryView view = HistoryView.of(everyMinute(IntStream.range(0, 1_440)));
    assertThat(view.samples()).hasSize(288);
    assertThat(view.samples().getLast().waiting()).isEqualTo(1_439);
    assertThat(view.gaps()).isEmpty();
  }

  @Test
  void aTimeOfWhichNothingIsKnownIsAGapHoweverFewPointsAreShown() {
    IntStream minutes = IntStream.concat(IntStream.range(0, 700), IntStream.range(720, 1_440));
    HistoryView view = HistoryView.of(everyMinute(minutes));
    assertThat(view.samples()).hasSizeLessThan(300);
    assertThat(view.gaps()).singleElement(as(LONG)).isBetween(720 * 60L, 725 * 60L);
    assertThat(view.samples()).extracting(Sample::at).containsAll(view.gaps());
  }

  @Test
  void aMissedMinuteIsNoGap() {
    assertThat(HistoryView.of(everyMinute(IntStream.of(0, 1, 5, 15))).gaps()).isEmpty();
    assertThat(HistoryView.of(everyMinute(IntStream.of(0, 1, 12))).gaps()).containsExactly(720L);
  }

  @Test
  void nothingIsShownOfAnEmptyHistory() {
    assertThat(HistoryView.of(List.of())).isEqualTo(new HistoryView(List.of(), List.of()));
  }
}
