package dev.partita.controller.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QuotaLedgerTest {
  private static final long GIB = GpuNodes.GIB;
  private static final LabelSelector TEAM_A = new LabelSelectorBuilder().addToMatchLabels("team", "a").build();
  private static final Inventory INVENTORY =
      Inventory.EMPTY.refreshed(
          List.of(GpuNodes.ready("h-0", 2, "NVIDIA H200", 140 * GIB),
              GpuNodes.ready("a-0", 2, "NVIDIA A100", 80 * GIB)));

  private final QuotaLedger ledger = new QuotaLedger();

  @Test
  void whatTheNamespacesHaveTogetherIsNeverMoreThanTheLimit() {
    quota(limit("", memory("40Gi")));
    ledger.put("1", "a-dev", List.of(share("h-0", 0, 16)));
    ledger.put("2", "a-prod", List.of(share("a-0", 1, 16)));
    assertThat(ledger.refusal("a-dev", List.of(request(8)), host("h-0"))).isEmpty();
    assertThat(ledger.refusal("a-dev", List.of(request(9)), host("h-0")))
        .contains("namespace quota team-a: 32 GiB of 40 GiB memory, 9 GiB asked");
    assertThat(ledger.refusal("b", List.of(request(9)), host("h-0"))).as("another team's").isEmpty();
    ledger.remove("1");
    assertThat(ledger.refusal("a-dev", List.of(request(9)), host("h-0"))).isEmpty();
  }

  @Test
  void everyAmountIsALimitOfItsOwn() {
    quota(limit("", new Amounts(null, 50L, 2L, 1L)));
    ledger.put("1", "a-dev", List.of(new Booking(new CardKey("h-0", 0), DeviceMode.SHARED, GIB, 40)));
    assertThat(ledger.excess("a-dev", List.of(List.of(new Booking(new CardKey("h-0", 0), DeviceMode.SHARED, GIB, 20)))))
        .hasValueSatisfying(e -> assertThat(e.why()).isEqualTo("namespace quota team-a: 40 of 50 % cores, 20 % asked"));
    assertThat(ledger.excess("a-dev", List.of(List.of(share("h-0", 0, 1), share("h-0", 1, 1)))))
        .hasValueSatisfying(e -> assertThat(e.why()).isEqualTo("namespace quota team-a: 1 of 2 cards, 2 asked"));
    assertThat(ledger.refusal("a-dev", List.of(request(1)), host("h-0")))
        .contains("namespace quota team-a: 1 of 1 claims");
  }

  @Test
  void whatEachNamespaceHasOfALimitIsKnown() {
    quota(limit("all", memory("400Gi")), new GpuQuotaSpec.Limit("a100", List.of("a100"), null, memory("80Gi"),
        Amounts.UNLIMITED));
    ledger.put("1", "a-dev", List.of(share("h-0", 0, 16)));
    ledger.put("2", "a-prod", List.of(share("a-0", 1, 8)));
    ledger.put("3", "a-prod", List.of(share("h-0", 1, 4)));
    ledger.put("4", "b", List.of(share("h-0", 1, 32)));
    assertThat(ledger.namespaces()).containsOnlyKeys("team-a");
    assertThat(ledger.namespaces().get("team-a")).isEqualTo(Map.of(
        "all", List.of(use("a-dev", "16Gi", 1), use("a-prod", "12Gi", 2)),
        "a100", List.of(use("a-prod", "8Gi", 1))));
  }

  private static QuotaLedger.NamespaceUse use(String namespace, String memory, long shares) {
    return new QuotaLedger.NamespaceUse(namespace, new Amounts(new Quantity(memory), 0L, shares, shares));
  }

  @Test
  void aWholeCardCountsWithAllItsMemoryAndCores() {
    quota(limit("", memory("300Gi")));
    ledger.put("1", "a-dev", List.of(new Booking(new CardKey("h-0", 0), DeviceMode.WHOLE, 0, 0)));
    assertThat(status().used()).isEqualTo(new Amounts(new Quantity("140Gi"), 100L, 1L, 1L));
    assertThat(status().fullest()).isEqualTo("140 GiB of 300 GiB memory");
  }

  @Test
  void whatAClaimHasOfACardCountsWhileTheCardIsNotReported() {
    GpuQuotaSpec.Limit[] limits = {limit("all", memory("300Gi")),
      new GpuQuotaSpec.Limit("a100", List.of("a100"), null, memory("300Gi"), Amounts.UNLIMITED),
      new GpuQuotaSpec.Limit("cheap", List.of(),
          new LabelSelectorBuilder().addToMatchLabels("pool", "cheap").build(), memory("300Gi"), Amounts.UNLIMITED)};
    quota(limits);
    ledger.put("1", "a-dev", List.of(new Booking(new CardKey("a-0", 0), DeviceMode.WHOLE, 0, 0)));
    ledger.put("2", "a-prod", List.of(Booking.turn(new CardKey("a-0", 1)), share("h-0", 1, 8)));
    var before = ledger.namespaces();
    quota(Map.of(), Inventory.EMPTY, limits);
    assertThat(ledger.namespaces()).isEqualTo(before);
    ledger.remove("1");
    ledger.remove("2");
    assertThat(status().used()).isEqualTo(new Amounts(new Quantity("0"), 0L, 0L, 0L));
  }

  @Test
  void aCardThatWasNeverReportedCountsLikeTheLargestOneThatIs() {
    GpuQuotaSpec.Limit limit = limit("", memory("150Gi"));
    quota(limit);
    ledger.put("1", "a-dev", List.of(new Booking(new CardKey("gone", 0), DeviceMode.WHOLE, 0, 0)));
    assertThat(ledger.refusal("a-dev", List.of(request(11)), host("h-0")))
        .contains("namespace quota team-a: 140 GiB of 150 GiB memory, 11 GiB asked");
    ledger.put("2", "a-dev", List.of(Booking.turn(new CardKey("gone", 1))));
    assertThat(status().used()).isEqualTo(new Amounts(new Quantity("280Gi"), 200L, 2L, 2L));
    quota(Map.of(), INVENTORY.refreshed(List.of(GpuNodes.ready("gone", 2, "NVIDIA A100", 80 * GIB))), limit);
    assertThat(status().used()).as("it is reported").isEqualTo(new Amounts(new Quantity("160Gi"), 200L, 2L, 2L));
  }

  @Test
  void anInstanceOfACardThatWasNeverReportedCountsLikeThatOfACardThatIs() {
    GpuNode cut = GpuNodes.ready("m-0", GpuNodeSpec.DEFAULT, GpuNodes.migCards("m-0", 1));
    quota(Map.of(), INVENTORY.refreshed(List.of(cut)), limit("", memory("500Gi")));
    ledger.put("1", "a-dev",
        List.of(new Booking(new CardKey("gone", 0), new DeviceName.Mig(0, new MigSlot("1g-18gb", 3)), 0, 0)));
    assertThat(status().used()).isEqualTo(new Amounts(new Quantity("16Gi"), 15L, 1L, 1L));
    ledger.put("2", "a-dev",
        List.of(new Booking(new CardKey("gone", 1), new DeviceName.Mig(1, new MigSlot("1g-5gb", 3)), 0, 0)));
    assertThat(Objects.requireNonNull(status().used()).cores()).as("nobody knows that profile").isEqualTo(15 + 100);
  }

  @Test
  void aCardInTurnCountsLikeAWholeOneForNothingHoldsTheClaimToLess() {
    quota(limit("", memory("150Gi")));
    ClaimRequest turn = new ClaimRequest(new ClaimRef("a-dev", "t", "uid-t"),
        List.of(new NamedRequest("gpu", List.of(DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
            new CapacityRequest(new MemoryRequest.Unsaid(), OptionalLong.empty(), 100,
                new Sharing.TimeSlicing(TimeSlice.DEFAULT)))))),
        List.of());
    assertThat(ledger.refusal("a-dev", List.of(turn), host("h-0"))).isEmpty();
    ledger.put("1", "a-dev", List.of(Booking.turn(new CardKey("h-0", 0))));
    assertThat(status().used()).isEqualTo(new Amounts(new Quantity("140Gi"), 100L, 1L, 1L));
    assertThat(ledger.refusal("a-dev", List.of(turn), host("h-0")))
        .contains("namespace quota team-a: 140 GiB of 150 GiB memory, 140 GiB asked");
    ledger.remove("1");
    assertThat(ledger.refusal("a-dev", List.of(turn), host("h-0"))).isEmpty();
  }

  @Test
  void aShareByMpsCountsWithItsMemoryAndCores() {
    quota(limit("", memory("150Gi")));
    ledger.put("1", "a-dev", List.of(Booking.byMps(new CardKey("h-0", 0), 8L << 30, 25)));
    assertThat(status().used()).isEqualTo(new Amounts(new Quantity("8Gi"), 25L, 1L, 1L));
  }

  @Test
  void aLimitOfAModelOrAPoolOfNodesCountsOnlyThose() {
    quota(
        new GpuQuotaSpec.Limit("h200", List.of("h200"), null, memory("20Gi"), Amounts.UNLIMITED),
        new GpuQuotaSpec.Limit("cheap", List.of(), new LabelSelectorBuilder().addToMatchLabels("pool", "cheap").build(),
            memory("10Gi"), Amounts.UNLIMITED));
    ledger.put("1", "a-dev", List.of(share("h-0", 0, 20)));
    assertThat(ledger.refusal("a-dev", List.of(request(1)), host("h-0")))
        .contains("namespace quota team-a/h200: 20 GiB of 20 GiB memory, 1 GiB asked");
    assertThat(ledger.refusal("a-dev", List.of(request(10)), host("a-0"))).isEmpty();
    assertThat(ledger.refusal("a-dev", List.of(request(11)), host("a-0")))
        .contains("namespace quota team-a/cheap: 0 bytes of 10 GiB memory, 11 GiB asked");
    assertThat(ledger.refusal("a-dev", request(10), Map.of(), host("a-0"))).as("there is a host for it").isEmpty();
    assertThat(List.of(host("a-0"), host("h-0"))).as("nowhere")
        .allMatch(host -> ledger.refusal("a-dev", request(11), Map.of(), host).isPresent());
    assertThat(ledger.refusal("a-dev", request(10), Map.of(), host("h-0"))).as("not on the one where it may go")
        .isPresent();
  }

  @Test
  void whoCannotChooseTheHostCountsWhatClaimsWaitFor() {
    quota(limit("", memory("40Gi")));
    ledger.put("1", "a-dev", List.of(share("h-0", 0, 16)));
    Map<String, List<ClaimRequest>> waiting =
        Map.of("a-prod", List.of(request(8), request(8)), "b", List.of(request(100)));
    assertThat(ledger.refusal("a-dev", request(8), waiting, host("h-0"))).isEmpty();
    assertThat(ledger.refusal("a-dev", request(9), waiting, host("h-0")))
        .contains("namespace quota team-a: 32 GiB of 40 GiB memory, 9 GiB asked");
    assertThat(ledger.refusal("b", request(100), waiting, host("h-0"))).as("another team's").isEmpty();
  }

  @Test
  void whatIsBeyondTheGuaranteedPartIsBorrowed() {
    quota(new GpuQuotaSpec.Limit("", List.of(), null, memory("20Gi"), memory("30Gi")));
    ledger.put("1", "a-dev", List.of(share("h-0", 0, 20)));
    assertThat(ledger.isBorrowed("1")).isFalse();
    assertThat(ledger.isGuaranteed("a-dev", List.of(List.of(share("h-0", 0, 1))))).isFalse();
    assertThat(ledger.isGuaranteed("b", List.of(List.of(share("h-0", 0, 1))))).as("nobody guarantees anything to it")
        .isFalse();
    ledger.put("2", "a-dev", List.of(share("h-0", 0, 30)));
    assertThat(ledger.isBorrowed("1")).isTrue();
    assertThat(status().limits().getFirst().borrows()).isTrue();
    assertThat(ledger.refusal("a-dev", List.of(request(1)), host("h-0"))).isPresent();
    ledger.remove("1");
    ledger.remove("2");
    assertThat(ledger.isGuaranteed("a-dev", List.of(List.of(share("h-0", 0, 20))))).isTrue();
  }

  @Test
  void aSpecThatCannotBeReadIsNamedAndTheRestHolds() {
    quota(limit("bad", memory("a lot")), limit("good", memory("1Gi")));
    assertThat(status().problem()).isEqualTo("spec.limits[0]: memory is not a quantity");
    assertThat(ledger.refusal("a-dev", List.of(request(2)), host("h-0"))).isPresent();
  }

  @Test
  void countingAnewGivesTheSame() {
    quota(limit("", memory("40Gi")));
    ledger.put("1", "a-dev", List.of(share("h-0", 0, 16)));
    var before = ledger.statuses();
    quota(limit("", memory("40Gi")));
    assertThat(ledger.statuses()).isEqualTo(before);
    ledger.put("1", "a-dev", List.of(share("h-0", 1, 16)));
    assertThat(ledger.statuses()).isEqualTo(before);
  }

  private void quota(GpuQuotaSpec.Limit... limits) {
    quota(Map.of("h-0", Map.of(), "a-0", Map.of("pool", "cheap")), INVENTORY, limits);
  }

  private void quota(Map<String, Map<String, String>> nodes, Inventory inventory, GpuQuotaSpec.Limit... limits) {
    ledger.refresh(
        new QuotaWorld(
            new TreeMap<>(Map.of("team-a", new GpuQuotaSpec(TEAM_A, Arrays.asList(limits)))),
            Map.of("a-dev", Map.of("team", "a"), "a-prod", Map.of("team", "a"), "b", Map.of("team", "b")),
            nodes,
            inventory));
  }

  private GpuQuotaStatus status() {
    return Objects.requireNonNull(ledger.statuses().get("team-a"));
  }

  @Test
  void aMigInstanceCountsWithItsOwnMemoryAndItsPartOfTheComputeSlices() {
    GpuNode cut = GpuNodes.ready("m-0",
        new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(GpuNodeSpec.PublishedMode.values()), null),
        GpuNodes.migCards("m-0", 1));
    var quota = new TreeMap<>(Map.of("team-a", new GpuQuotaSpec(TEAM_A, List.of(limit("", memory("40Gi"))))));
    ledger.refresh(
        new QuotaWorld(quota, Map.of("a-dev", Map.of("team", "a")), Map.of(), Inventory.EMPTY.refreshed(List.of(cut))));
    Booking eighth = new Booking(new CardKey("m-0", 0), new DeviceName.Mig(0, new MigSlot("1g-18gb", 3)), 0, 0);
    Booking quarter = new Booking(new CardKey("m-0", 0), new DeviceName.Mig(0, new MigSlot("2g-35gb", 4)), 0, 0);
    ledger.put("1", "a-dev", List.of(eighth));
    assertThat(Objects.requireNonNull(status().used()).cores()).as("one of seven slices").isEqualTo(15);
    assertThat(ledger.excess("a-dev", List.of(List.of(quarter))))
        .hasValueSatisfying(
            e -> assertThat(e.why()).isEqualTo("namespace quota team-a: 16 GiB of 40 GiB memory, 32 GiB asked"));
    assertThat(ledger.excess("a-dev", List.of(List.of(eighth)))).isEmpty();
  }

  @Test
  void aShareOfAMigInstanceCountsWithItsMemoryAndNoCores() {
    Booking share =
        new Booking(new CardKey("m-0", 0), new DeviceName.MigShared(0, new MigSlot("1g-18gb", 3)), 6 * GpuNodes.GIB, 0);
    var quota = new TreeMap<>(Map.of("team-a", new GpuQuotaSpec(TEAM_A, List.of(limit("", memory("40Gi"))))));
    GpuNode cut = GpuNodes.ready("m-0", GpuNodeSpec.DEFAULT, GpuNodes.migCards("m-0", 1));
    ledger.refresh(
        new QuotaWorld(quota, Map.of("a-dev", Map.of("team", "a")), Map.of(), Inventory.EMPTY.refreshed(List.of(cut))));
    ledger.put("1", "a-dev", List.of(share));
    assertThat(Objects.requireNonNull(status().used()).cores()).isZero();
    assertThat(Bytes.of(Objects.requireNonNull(Objects.requireNonNull(status().used()).memory())))
        .isEqualTo(6 * GpuNodes.GIB);
  }

  @Test
  void aShareOnACardOfItsOwnIsReckonedAsTheCard() {
    GpuHost host = INVENTORY.hosts().values().iterator().next();
    Use least = Demand.least(List.of(exclusive()), host);
    assertThat(least.memory()).isEqualTo(Demand.smallest(host)).isGreaterThan(GIB);
    assertThat(least.cores()).as("it is booked as a whole card").isEqualTo(100);
    GpuNode cut = GpuNodes.ready("m-0",
        new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(GpuNodeSpec.PublishedMode.values()), null),
        GpuNodes.migCards("m-0", 1));
    GpuHost parts = Inventory.EMPTY.refreshed(List.of(cut)).hosts().values().iterator().next();
    assertThat(Demand.least(List.of(exclusive()), parts).cores()).as("it may get a MIG instance").isZero();
  }

  @Test
  void aShareOnACardOfItsOwnIsNotTriedWhereAllCoresWouldBeTooMuch() {
    quota(limit("", new Amounts(null, 50L, null, null)));
    assertThat(ledger.refusal("a-dev", List.of(exclusive()), host("h-0")))
        .contains("namespace quota team-a: 0 of 50 % cores, 100 % asked");
    assertThat(ledger.refusal("a-dev", List.of(request(1)), host("h-0"))).isEmpty();
  }

  private static ClaimRequest exclusive() {
    DeviceRequest small = request(1).requests().getFirst().alternatives().getFirst();
    DeviceRequest alone =
        small.placed(small.placement().alone());
    return new ClaimRequest(new ClaimRef("a-dev", "c", "uid"), List.of(new NamedRequest("gpu", List.of(alone))),
        List.of());
  }

  private static GpuQuotaSpec.Limit limit(String name, Amounts guaranteed) {
    return new GpuQuotaSpec.Limit(name, List.of(), null, guaranteed, Amounts.UNLIMITED);
  }

  private static Amounts memory(@Nullable String quantity) {
    return new Amounts(new Quantity(quantity), null, null, null);
  }

  private static Booking share(String node, int card, long gib) {
    return new Booking(new CardKey(node, card), DeviceMode.SHARED, gib * GIB, 0);
  }

  private static ClaimRequest request(long gib) {
    DeviceRequest request =
        DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
            CapacityRequest.of(OptionalLong.of(gib * GIB), OptionalLong.empty()));
    return new ClaimRequest(new ClaimRef("a-dev", "c", "uid"), List.of(new NamedRequest("gpu", List.of(request))),
        List.of());
  }

  private static GpuHost host(String name) {
    return Objects.requireNonNull(INVENTORY.host(name));
  }
}
