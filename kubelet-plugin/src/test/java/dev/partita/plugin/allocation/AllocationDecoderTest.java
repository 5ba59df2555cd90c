package dev.partita.plugin.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.claim.Clash;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.AdminAccess;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.ExclusiveShare;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Mps;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.grant.TimeSlicing;
import dev.partita.plugin.grant.WholeCard;
import dev.partita.plugin.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceToleration;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AllocationDecoderTest {
  private static final Gpu CARD =
      new Gpu(0, 0, "GPU-0", GpuProduct.named("NVIDIA H100", "Nvidia", "Hopper", "9.0"), 80 * Grants.GIB,
          GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
  private static final Gpu FAR =
      new Gpu(1, 1, "GPU-1", GpuProduct.named("NVIDIA H100", "Nvidia", "Hopper", "9.0"), 80 * Grants.GIB,
          new GpuTopology(null, null, 1, null), GpuHealth.HEALTHY);
  private static final Inventory.Cards CARDS = cards(CARD, FAR);

  private static final Map<String, Object> ALONE = Map.of("placement", Map.of("exclusive", true));

  /**
   * adminAccess consumes nothing, so an allocation of a shared device has no share: it is the card that is looked at.
   */
  @Test
  void adminAccessIsToTheWholeCardBesidesWhoeverHasItAndWhateverDeviceNamesIt() {
    DeviceRequestAllocationResult shared = TestClaims.share("node", "gpu", 0, "", "");
    for (String device : List.of("gpu-0", "gpu-0-shared")) {
      DeviceRequestAllocationResult result =
          new DeviceRequestAllocationResultBuilder(shared).withDevice(device).withShareID(null)
              .withConsumedCapacity(null).withAdminAccess(true).build();
      AllocationDecoder.Outcome outcome =
          AllocationDecoder.read(TestClaims.claim("monitor", result), Driver.poolOf("node"), CARDS,
              GpuNodeSpec.DEFAULT);
      assertThat(outcome)
          .isInstanceOfSatisfying(
              AllocationDecoder.Granted.class,
              granted -> assertThat(granted.grants())
                  .singleElement()
                  .satisfies(
                      grant -> {
                        assertThat(grant.use()).isEqualTo(new AdminAccess());
                        assertThat(grant.device()).isEqualTo(device);
                      }));
    }
  }

  /** A claim may have a card and look at all cards of the node: what it has of the card is the same in either order. */
  @Test
  void whoeverHasACardAndAdminAccessToItInOneClaimHasTheCard() {
    DeviceRequestAllocationResult own = TestClaims.whole("node", "own", 0);
    DeviceRequestAllocationResult seen =
        new DeviceRequestAllocationResultBuilder(TestClaims.whole("node", "all", 0)).withAdminAccess(true).build();
    for (List<DeviceRequestAllocationResult> results : List.of(List.of(own, seen), List.of(seen, own))) {
      assertThat(AllocationDecoder.read(TestClaims.claim("both", results.getFirst(), results.getLast()),
          Driver.poolOf("node"), CARDS, GpuNodeSpec.DEFAULT))
          .isInstanceOfSatisfying(AllocationDecoder.Granted.class, granted -> assertThat(granted.grants())
              .singleElement()
              .satisfies(grant -> {
                assertThat(grant.use()).isEqualTo(new WholeCard());
                assertThat(grant.requests()).containsExactlyInAnyOrder("own", "all");
              }));
    }
  }

  @Test
  void aShareByTimeSlicingIsAllOfTheCardWithItsInterval() {
    assertThat(inTurn(TestClaims.share("node", "gpu", 0, "80Gi", ""), Allocator.Controller))
        .isInstanceOfSatisfying(AllocationDecoder.Granted.class, granted -> assertThat(granted.grants())
            .extracting(Grant::use).containsExactly(new TimeSlicing(TimeSlice.SHORT)));
    assertThat(inTurn(TestClaims.whole("node", "gpu", 0), Allocator.Controller))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class, refused -> assertThat(refused.reason())
            .contains("is no share, and its config asks to share the card by time-slicing or MPS"));
    assertThat(inTurn(TestClaims.share("node", "gpu", 0, "80Gi", ""), Allocator.Scheduler))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class, refused -> assertThat(refused.reason())
            .contains("kube-scheduler allocated it, which knows no sharing.strategy"));
  }

  @Test
  void aShareByMpsHasItsMemoryAndCoresAndNothingHoldsItToTime() {
    assertThat(byMps(Allocator.Controller, TestClaims.share("node", "gpu", 0, "8Gi", "25")))
        .isInstanceOfSatisfying(AllocationDecoder.Granted.class, granted -> assertThat(granted.grants())
            .extracting(Grant::use).containsExactly(new Mps(new Share(8 * Grants.GIB, 25, CoreLimit.NONE, 1))));
    assertThat(byMps(Allocator.Controller, TestClaims.whole("node", "gpu", 0)))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class, refused -> assertThat(refused.reason())
            .contains("is no share, and its config asks to share the card by time-slicing or MPS"));
    assertThat(byMps(Allocator.Scheduler, TestClaims.share("node", "gpu", 0, "8Gi", "25")))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class, refused -> assertThat(refused.reason())
            .contains("is to be shared by MPS: kube-scheduler allocated it, which knows no sharing.strategy"));
    assertThat(byMps(Allocator.Controller, TestClaims.share("node", "a", 0, "8Gi", ""),
        TestClaims.share("node", "b", 1, "8Gi", "")))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class, refused -> assertThat(refused.reason())
            .contains("a program reaches the MPS daemon of one card"));
  }

  private static AllocationDecoder.Outcome byMps(Allocator allocator, DeviceRequestAllocationResult... results) {
    ResourceClaim claim = TestClaims.claim("c", List.of(TestClaims.byMps()), results);
    return AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS, new GpuNodeSpec(allocator, List.of(), null));
  }

  private static AllocationDecoder.Outcome inTurn(DeviceRequestAllocationResult result, Allocator allocator) {
    ResourceClaim claim = TestClaims.claim("c", List.of(TestClaims.timeSlicing("Short")), result);
    return AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS, new GpuNodeSpec(allocator, List.of(), null));
  }

  @Test
  void deviceMetadataIsNamedAsThePodAndTheAllocationNameTheClaimAndItsRequests() {
    DeviceRequestAllocationResult ours = TestClaims.share("node", "gpu/large", 0, "1Gi", "");
    DeviceRequestAllocationResult plain = TestClaims.share("node", "plain", 0, "1Gi", "");
    DeviceRequestAllocationResult beside =
        new DeviceRequestAllocationResultBuilder(plain).withDriver("nic.example.com").withShareID(null).build();
    DeviceRequestAllocationResult elsewhere =
        new DeviceRequestAllocationResultBuilder(beside).withRequest("nic").build();
    ResourceClaim claim = TestClaims.claim("c", ours, plain, beside, elsewhere);
    assertThat(names(claim)).isEqualTo(
        new MetadataNames(Optional.empty(), Map.of("gpu", "gpu/large"), Set.of("plain")));
    claim.getMetadata().setAnnotations(Map.of("resource.kubernetes.io/pod-claim-name", "card"));
    assertThat(names(claim).podClaimName()).contains("card");
    assertThat(names(claim).resultName("gpu")).isEqualTo("gpu/large");
    assertThat(names(claim).resultName("plain")).isEqualTo("plain");
  }

  @Test
  void namesThatCannotBePartOfAPathAreRefused() {
    for (String request : List.of("..", "../x", "/x", "", "a.b", "A")) {
      ResourceClaim claim = TestClaims.claim("c", TestClaims.share("node", request, 0, "1Gi", ""));
      assertThat(AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS, GpuNodeSpec.DEFAULT))
          .isInstanceOfSatisfying(AllocationDecoder.Refused.class,
              refused -> assertThat(refused.reason()).contains("has a name that is no DNS label"));
    }
  }

  private static MetadataNames names(ResourceClaim claim) {
    return ((AllocationDecoder.Granted) AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS,
        GpuNodeSpec.DEFAULT)).names();
  }

  @Test
  void whatKubeSchedulerAllocatedWhereTheControllerDoesIsRefused() {
    DeviceRequestAllocationResult share = TestClaims.share("node", "gpu", 0, "1Gi", "");
    DeviceToleration any = new DeviceToleration(null, null, "Exists", null, null);
    DeviceToleration byKey = new DeviceToleration("NoSchedule", Driver.ALLOCATOR_TAINT, "Equal", null, "controller");
    DeviceToleration health = new DeviceToleration(null, Driver.HEALTH_TAINT, "Exists", null, null);
    for (DeviceToleration toleration : List.of(any, byKey)) {
      assertThat(tolerating(share, toleration, Allocator.Controller))
          .isInstanceOfSatisfying(
              AllocationDecoder.Refused.class,
              refused -> assertThat(refused.reason())
                  .contains("device gpu-0-shared of request gpu", Driver.ALLOCATOR_TAINT, Driver.HEALTH_TAINT));
      assertThat(tolerating(share, toleration, Allocator.Scheduler)).isInstanceOf(AllocationDecoder.Granted.class);
      DeviceRequestAllocationResult monitor =
          new DeviceRequestAllocationResultBuilder(share).withAdminAccess(true).build();
      assertThat(tolerating(monitor, toleration, Allocator.Controller))
          .as("it takes nothing")
          .isInstanceOf(AllocationDecoder.Granted.class);
    }
    assertThat(tolerating(share, health, Allocator.Controller)).isInstanceOf(AllocationDecoder.Granted.class);
  }

  private static AllocationDecoder.Outcome tolerating(
      DeviceRequestAllocationResult result,
      DeviceToleration toleration,
      Allocator allocator) {
    DeviceRequestAllocationResult tolerant =
        new DeviceRequestAllocationResultBuilder(result).withTolerations(toleration).build();
    GpuNodeSpec spec = new GpuNodeSpec(allocator, List.of(), null);
    return AllocationDecoder.read(TestClaims.claim("c", tolerant), Driver.poolOf("node"), CARDS, spec);
  }

  @Test
  void aShareInPercentIsWhatWasAllocated() {
    assertThat(read(50, "40Gi"))
        .isInstanceOfSatisfying(
            AllocationDecoder.Granted.class,
            granted -> assertThat(granted.grants().getFirst().use())
                .isInstanceOfSatisfying(HookedShare.class,
                    share -> assertThat(share.its().memoryBytes()).isEqualTo(40 * Grants.GIB)));
    assertThat(read(100, "80Gi")).isInstanceOf(AllocationDecoder.Granted.class);
  }

  @Test
  void allOfTheCardForAPartOfItIsWhatKubeSchedulerMadeOfItAndIsRefused() {
    for (String all : new String[]{"80Gi", ""}) {
      assertThat(read(50, all))
          .isInstanceOfSatisfying(
              AllocationDecoder.Refused.class,
              refused -> assertThat(refused.reason()).startsWith(
                  "device gpu-0-shared of request gpu has all of the card's memory allocated, and its config asks for 50 percent"));
    }
  }

  @Test
  void anOversubscribedShareHasMoreMemoryThanItMayHoldOfTheCard() {
    assertThat(use(Map.of("oversubscribe", 150), "40Gi", GpuNodeSpec.DEFAULT))
        .isEqualTo(new HookedShare(new Share(60 * Grants.GIB, 40 * Grants.GIB, 0, CoreLimit.HARD, 1)));
    GpuNodeSpec twiceAllocatable = new GpuNodeSpec(Allocator.Controller, List.of(), null, 200);
    assertThat(use(Map.of("oversubscribe", 150), "40Gi", twiceAllocatable))
        .as("besides what the node offers beyond its cards")
        .isEqualTo(new HookedShare(new Share(60 * Grants.GIB, 20 * Grants.GIB, 0, CoreLimit.HARD, 1)));
    assertThat(share(Map.of("oversubscribe", 1000), "80Gi", GpuNodeSpec.DEFAULT).memoryBytes())
        .isEqualTo(800 * Grants.GIB);
  }

  @Test
  void noShareHasMoreMemoryThanItsLedgerCanCount() {
    Gpu large = new Gpu(0, 0, "GPU-0", GpuProduct.named("NVIDIA H300", "Nvidia", "Hopper", "9.0"), 288 * Grants.GIB,
        GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
    assertThat(use(Map.of("oversubscribe", 1000), "288Gi", GpuNodeSpec.DEFAULT, large))
        .isEqualTo(new HookedShare(new Share(2048 * Grants.GIB - 512, 288 * Grants.GIB, 0, CoreLimit.HARD, 1)));
    assertThat(
        use(Map.of("oversubscribe", 700), "288Gi", GpuNodeSpec.DEFAULT, large).memoryBytes(CardIdentity.of(large)))
        .isEqualTo(2016 * Grants.GIB);
  }

  @Test
  void aShareThatHasTheCardAloneMayHoldAllOfItsMemoryThereWhateverTheNodeOffers() {
    GpuNodeSpec twiceAllocatable = new GpuNodeSpec(Allocator.Controller, List.of(), null, 200);
    assertThat(use(ALONE, "40Gi", twiceAllocatable))
        .isEqualTo(new ExclusiveShare(new Share(40 * Grants.GIB, 40 * Grants.GIB, 0, CoreLimit.HARD, 1)));
    assertThat(use(ALONE, "120Gi", twiceAllocatable)).as("and no more than the card has")
        .isEqualTo(new ExclusiveShare(new Share(120 * Grants.GIB, 80 * Grants.GIB, 0, CoreLimit.HARD, 1)));
    GpuNodeSpec reserving = new GpuNodeSpec(Allocator.Controller, List.of(), new Quantity("8Gi"), 200);
    assertThat(share(ALONE, "120Gi", reserving).physicalBytes()).as("for shares").isEqualTo(72 * Grants.GIB);
    Map<String, Object> oversubscribing = Map.of("oversubscribe", 150, "placement", Map.of("exclusive", true));
    assertThat(use(oversubscribing, "40Gi", twiceAllocatable))
        .isEqualTo(new ExclusiveShare(new Share(60 * Grants.GIB, 40 * Grants.GIB, 0, CoreLimit.HARD, 1)));
  }

  @Test
  void whoeverWasGivenMoreThanTheNodeOffersNowIsToldWhatToDo() {
    ResourceClaim claim = TestClaims.claim("c", TestClaims.share("node", "gpu", 0, "120Gi", ""));
    GpuNodeSpec moreAllocatable = new GpuNodeSpec(Allocator.Controller, List.of(), null, 150);
    assertThat(AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS, moreAllocatable))
        .isInstanceOf(AllocationDecoder.Granted.class);
    assertThat(AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS, GpuNodeSpec.DEFAULT))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class, refused -> assertThat(refused.reason())
            .contains("bytes of memory allocated, the card has " + 80 * Grants.GIB)
            .endsWith("offer as much again, or make the pod anew"));
  }

  @Test
  void anAmountThatNobodyCanWriteOutIsRefused() {
    ResourceClaim claim = TestClaims.claim("c", TestClaims.share("node", "gpu", 0, "1e300000000", ""));
    assertThat(AllocationDecoder.read(claim, Driver.poolOf("node"), CARDS, GpuNodeSpec.DEFAULT))
        .isInstanceOfSatisfying(AllocationDecoder.Refused.class,
            refused -> assertThat(refused.reason()).contains("is no amount"));
  }

  @Test
  void aShareThatHasTheCardAloneKeepsWhatWasAllocatedBeforeMoreWasReserved() {
    GpuNodeSpec reserving = new GpuNodeSpec(Allocator.Controller, List.of(), new Quantity("8Gi"), null);
    assertThat(share(ALONE, "80Gi", reserving).physicalBytes()).isEqualTo(80 * Grants.GIB);
  }

  @Test
  void aShareThatHoldsAllOfTheCardAloneFitsItAndNothingBesideIt() {
    GpuNodeSpec twiceAllocatable = new GpuNodeSpec(Allocator.Controller, List.of(), null, 200);
    List<Grant> alone = grants(ALONE, twiceAllocatable, CARDS, TestClaims.share("node-0", "gpu", 0, "160Gi", ""));
    List<Grant> beside = grants(Map.of(), twiceAllocatable, CARDS, TestClaims.share("node-0", "gpu", 0, "1Gi", ""));
    ClaimRef claim = new ClaimRef("default", "c", "c");
    PreparedClaim prepared = new PreparedClaim(new ClaimRef("default", "d", "d"), PreparedClaim.Phase.COMPLETED, "boot",
        alone, Map.of(), false);
    assertThat(Clash.between(alone, claim, List.of())).isEmpty();
    assertThat(Clash.between(beside, claim, List.of(prepared)).orElseThrow().reason())
        .contains("is prepared exclusively for claim default/d");
  }

  @Test
  void whatIsNoShareDoesNotOversubscribe() {
    AllocationDecoder.Outcome outcome =
        read(Map.of("oversubscribe", 150), GpuNodeSpec.DEFAULT, TestClaims.whole("node-0", "gpu", 0));
    assertThat(refusal(outcome)).isEqualTo(
        "device gpu-0 of request gpu is no share, and its config asks to oversubscribe, which only a share can");
  }

  @Test
  void aCardOfItsOwnIsNotWhatKubeSchedulerGivesForAPartOfOne() {
    GpuNodeSpec scheduled = new GpuNodeSpec(Allocator.Scheduler, List.of(), null);
    assertThat(use(ALONE, "40Gi", GpuNodeSpec.DEFAULT))
        .isEqualTo(new ExclusiveShare(new Share(40 * Grants.GIB, 40 * Grants.GIB, 0, CoreLimit.HARD, 1)));
    assertThat(refusal(read(ALONE, scheduled, TestClaims.share("node-0", "gpu", 0, "40Gi", ""))))
        .contains("its config asks for a card of its own: kube-scheduler allocated it");
    assertThat(use(ALONE, "", scheduled)).as("all of it").isInstanceOf(ExclusiveShare.class);
  }

  @Test
  void aCardOfAnotherModelOrAnotherCardIsRefused() {
    DeviceRequestAllocationResult result = TestClaims.share("node-0", "gpu", 0, "8Gi", "");
    for (Map<String, Object> right : List.of(choice("models", "choose", "h100"), choice("models", "avoid", "h200"),
        choice("uuids", "choose", "GPU-0"), choice("uuids", "avoid", "GPU-1"))) {
      assertThat(read(right, GpuNodeSpec.DEFAULT, result)).as("%s", right)
          .isInstanceOf(AllocationDecoder.Granted.class);
    }
    for (Map<String, Object> wrong : List.of(choice("models", "choose", "h200"), choice("models", "avoid", "h100"))) {
      assertThat(refusal(read(wrong, GpuNodeSpec.DEFAULT, result)))
          .isEqualTo("device gpu-0-shared of request gpu is of model h100, against its config's placement.models");
    }
    GpuNodeSpec scheduled = new GpuNodeSpec(Allocator.Scheduler, List.of(), null);
    for (Map<String, Object> wrong : List.of(choice("uuids", "choose", "GPU-1"), choice("uuids", "avoid", "GPU-0"))) {
      assertThat(refusal(read(wrong, scheduled, result)))
          .startsWith(
              "device gpu-0-shared of request gpu is of card GPU-0, against its config's placement.uuids: kube-scheduler allocated it")
          .contains("select cards by CEL");
    }
  }

  @Test
  void cardsThatKubeSchedulerPutFarApartAreRefusedWhereTheyMustBeNear() {
    GpuNodeSpec scheduled = new GpuNodeSpec(Allocator.Scheduler, List.of(), null);
    DeviceRequestAllocationResult[] farApart =
        {TestClaims.share("node-0", "a", 0, "8Gi", ""), TestClaims.share("node-0", "b", 1, "8Gi", "")};
    Map<String, Object> near = Map.of("placement", Map.of("numa", "Required"));
    Map<String, Object> linked = Map.of("placement", Map.of("nvlink", "Required"));
    assertThat(refusal(read(near, scheduled, farApart)))
        .startsWith("device gpu-1-shared of request b is on another NUMA node");
    assertThat(refusal(read(linked, scheduled, farApart))).startsWith("device gpu-1-shared of request b has no NVLink");
    assertThat(read(near, scheduled, farApart[1])).isInstanceOf(AllocationDecoder.Granted.class);
    assertThat(read(linked, GpuNodeSpec.DEFAULT, farApart)).as("the controller knew what it did")
        .isInstanceOf(AllocationDecoder.Granted.class);
  }

  private static Map<String, Object> choice(String of, String how, String value) {
    return Map.of("placement", Map.of(of, Map.of(how, List.of(value))));
  }

  private static Share share(Map<String, Object> config, String memory, GpuNodeSpec node) {
    return use(config, memory, node).share().orElseThrow();
  }

  private static CardUse use(Map<String, Object> config, String memory, GpuNodeSpec node) {
    return use(config, memory, node, CARD);
  }

  private static CardUse use(Map<String, Object> config, String memory, GpuNodeSpec node, Gpu card) {
    return grants(config, node, cards(card), TestClaims.share("node-0", "gpu", 0, memory, "")).getFirst().use();
  }

  private static List<Grant> grants(
      Map<String, Object> config,
      GpuNodeSpec node,
      Inventory.Cards cards,
      DeviceRequestAllocationResult result) {
    AllocationDecoder.Outcome outcome = read(config, node, cards, result);
    assertThat(outcome).isInstanceOf(AllocationDecoder.Granted.class);
    return ((AllocationDecoder.Granted) outcome).grants();
  }

  private static String refusal(AllocationDecoder.Outcome outcome) {
    assertThat(outcome).isInstanceOf(AllocationDecoder.Refused.class);
    return ((AllocationDecoder.Refused) outcome).reason();
  }

  private static AllocationDecoder.Outcome read(int percent, String memory) {
    return read(Map.of("memoryPercent", percent), GpuNodeSpec.DEFAULT,
        TestClaims.share("node-0", "gpu", 0, memory, ""));
  }

  private static AllocationDecoder.Outcome read(
      Map<String, Object> config,
      GpuNodeSpec node,
      DeviceRequestAllocationResult... results) {
    return read(config, node, CARDS, results);
  }

  private static AllocationDecoder.Outcome read(
      Map<String, Object> config,
      GpuNodeSpec node,
      Inventory.Cards cards,
      DeviceRequestAllocationResult... results) {
    Map<String, Object> parameters = new HashMap<>(config);
    parameters.put("apiVersion", "gpu.partita.dev/v1alpha1");
    parameters.put("kind", "GpuShareConfig");
    return AllocationDecoder.read(
        TestClaims.claim("c", List.of(TestClaims.config("FromClaim", List.of(), parameters)), results), "node-0/gpu",
        cards, node);
  }

  private static Inventory.Cards cards(Gpu... cards) {
    return new Inventory.Cards(
        new DriverFiles("580.1", "/usr/lib", List.of(), List.of(), List.of(), List.of(), new TreeMap<>()),
        "580.1", Optional.empty(), List.of(cards));
  }
}
