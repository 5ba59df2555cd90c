package dev.partita.controller.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.resize.AskedSize;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.NodeResizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class NodeSizesTest {
  private static final GpuHost HOST = Objects.requireNonNull(Inventory.EMPTY
      .refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", 40 * GpuNodes.GIB))).host("node-0"));

  @Test
  void aShareThatGivesBackWhatItsCardLacksIsToldSo() {
    NodeSizes.Plan plan = NodeSizes.plan(List.of(granted(share("a", 30), 10), share("b", 20)), HOST, List.of());
    assertThat(plan.resizes().granted())
        .containsExactly(new GrantedSize("uid-a", "share-a", "memory=10Gi,cores=0"));
    assertThat(plan.isWhole()).isTrue();
  }

  @Test
  void aShareThatGrowsBeyondWhatItsCardHasKeepsWhatItWasToldBefore() {
    List<GrantedSize> before = List.of(new GrantedSize("uid-a", "share-a", "memory=12Gi,cores=0"));
    NodeSizes.Plan plan = NodeSizes.plan(List.of(granted(share("a", 10), 30), share("b", 20)), HOST, before);
    assertThat(plan.resizes().granted()).isEqualTo(before);
    assertThat(plan.isWhole()).isFalse();
  }

  @Test
  void aClaimThatHasGivenBackItsShareIsNotToldOfThoughItsProposalStandsYet() {
    ResourceClaim asks = new ResourceClaimBuilder(granted(share("a", 10), 12)).editMetadata()
        .addToAnnotations(Driver.RESIZE_ANSWER_ANNOTATION, "memory=12Gi: granted")
        .addToAnnotations(Driver.PROPOSAL_ANNOTATION, "node-0 gpu-0-shared memory=10Gi").endMetadata().build();
    assertThat(NodeSizes.plan(List.of(asks), HOST, List.of()).resizes().asked())
        .containsExactly(new AskedSize("uid-a", "memory=12Gi"));
    ResourceClaim freed = new ResourceClaimBuilder(asks).editStatus().withAllocation(null).endStatus().build();
    assertThat(NodeSizes.plan(List.of(freed), HOST, List.of()).resizes()).isEqualTo(NodeResizes.NONE);
  }

  /** Each asks for what takes the most room of all that is understood. */
  @Test
  void ofANamespaceWithThousandsOfSharesSoManyAreToldThatTheGpuNodeCanBeWrittenAndItsNeighboursAreToldToo() {
    String request = "r".repeat(180);
    List<ResourceClaim> claims = Stream.concat(
        IntStream.range(10_000, 16_000).mapToObj(i -> asks(share("a" + i, 1), request + ".memory=2Gi: waits: no")),
        Stream.of(new ResourceClaimBuilder(asks(share("z", 1), "memory=2Gi: granted")).editMetadata()
            .withNamespace("neighbour").endMetadata().build()))
        .map(claim -> new GrantedSizes(
            Map.of("share-" + claim.getMetadata().getName(), new ShareSize(1 << 20, 0))).on(claim))
        .toList();
    NodeResizes told = NodeSizes.plan(claims, HOST, List.of()).resizes();
    assertThat(Serialization.asJson(told).length()).as("bytes").isLessThan(1 << 19);
    assertThat(told.granted()).hasSize(NodeSizes.MOST).extracting(GrantedSize::claimUid).contains("uid-z");
    assertThat(told.asked()).hasSize(NodeSizes.MOST).contains(new AskedSize("uid-z", "memory=2Gi"));
  }

  private static ResourceClaim asks(ResourceClaim claim, String answer) {
    return new ResourceClaimBuilder(claim).editMetadata().addToAnnotations(Driver.RESIZE_ANSWER_ANNOTATION, answer)
        .endMetadata().build();
  }

  private static ResourceClaim granted(ResourceClaim claim, long gib) {
    return new GrantedSizes(
        Map.of("share-" + claim.getMetadata().getName(), new ShareSize(gib * GpuNodes.GIB, 0))).on(claim);
  }

  private static ResourceClaim share(String name, long gib) {
    return new ResourceClaimBuilder().withNewMetadata().withNamespace("team").withName(name).withUid("uid-" + name)
        .endMetadata().withNewStatus().withNewAllocation().withNewDevices()
        .withResults(new DeviceRequestAllocationResultBuilder().withRequest("gpu").withDriver(Driver.NAME)
            .withPool("node-0/gpu").withDevice("gpu-0-shared").withShareID("share-" + name)
            .withConsumedCapacity(Map.of("memory", new Quantity(gib + "Gi"))).build())
        .endDevices().endAllocation().endStatus().build();
  }
}
