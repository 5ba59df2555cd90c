package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.resize.AskedSize;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.NodeResizes;
import dev.partita.api.resize.ShareSize;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ResizeTest {
  private static final String H200 = "NVIDIA H200";
  private static final long CARD = 140 * GpuNodes.GIB;

  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aLargerSizeIsGrantedFromWhatIsFreeOfTheCardAndItsNodeIsTold() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    String share = share("c", "8Gi");
    ask("c", "memory=12Gi,cores=40");
    awaitAnswer("c", "memory=12Gi,cores=40: granted");
    ShareSize size = new ShareSize(12 * GpuNodes.GIB, 40);
    assertThat(GrantedSizes.of(cluster.read("c")).ofShare(share)).contains(size);
    String uid = cluster.read("c").getMetadata().getUid();
    eventually().untilAsserted(() -> assertThat(told("node-0")).isEqualTo(new NodeResizes(
        List.of(new GrantedSize(uid, GrantedSizes.key(share), "memory=12Gi,cores=40")),
        List.of(new AskedSize(uid, "cores=40,memory=12Gi")))));
    assertThat(cluster.note("c", "ResizeGranted")).contains("memory=12Gi,cores=40: granted");

    cluster.release("c");
    eventually().untilAsserted(() -> assertThat(told("node-0")).as("the share is gone").isEqualTo(NodeResizes.NONE));
  }

  @Test
  void whatIsGrantedNobodyElseGets() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "8Gi");
    ask("c", "memory=100Gi");
    awaitAnswer("c", "memory=100Gi: granted");
    cluster.claim("other", "gpu.partita.dev", Map.of("memory", "50Gi"));
    cluster.pod("other", "other");
    assertThat(cluster.note("other", "Unallocatable")).isNotBlank();
    assertThat(cluster.isAllocated("other")).isFalse();
  }

  @Test
  void aSizeThatOthersHaveTheRestOfWaitsUntilTheyGiveItBack() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "8Gi");
    share("other", "120Gi");
    ask("c", "memory=30Gi");
    assertThat(awaitAnswer("c", "memory=30Gi: waits: "))
        .contains("card gpu-0 of node node-0 has ", " beside what others")
        .contains("the claim would have 30 GiB");
    assertThat(GrantedSizes.isOn(cluster.read("c"))).isFalse();
    String uid = cluster.read("c").getMetadata().getUid();
    eventually().untilAsserted(() -> assertThat(told("node-0")).as("its node knows what is asked for")
        .isEqualTo(new NodeResizes(List.of(), List.of(new AskedSize(uid, "memory=30Gi")))));
    cluster.release("other");
    awaitAnswer("c", "memory=30Gi: granted");
  }

  @Test
  void whatAPodHeldOfADeletedClaimUntilItEndedIsForThoseWhoWait() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "8Gi");
    share("other", "120Gi");
    cluster.reserveAndBind("other", "node-0");
    cluster.awaitQuiet();
    cluster.deleteWhateverProtectsIt("other");
    ask("c", "memory=30Gi");
    awaitAnswer("c", "memory=30Gi: waits: ");
    String uid = cluster.read("c").getMetadata().getUid();
    eventually().during(Duration.ofSeconds(2)).untilAsserted(() -> assertThat(told("node-0")).as("nothing changes")
        .isEqualTo(new NodeResizes(List.of(), List.of(new AskedSize(uid, "memory=30Gi")))));
    cluster.client.pods().inNamespace("default").withName("other").withGracePeriod(0).delete();
    awaitAnswer("c", "memory=30Gi: granted");
  }

  @Test
  void coresThatOthersHaveAreWaitedForLikewise() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "8Gi");
    cluster.claim("other", "gpu.partita.dev", Map.of("memory", "8Gi", "cores", "70"));
    cluster.pod("other", "other");
    cluster.result("other");
    ask("c", "cores=40");
    assertThat(awaitAnswer("c", "cores=40: waits: "))
        .contains("30 % cores beside what others have, and the claim would have 40 %");
  }

  @Test
  void aSmallerSizeCountsOnceItsNodeSaysThatItIsInForce() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "100Gi");
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: granted");
    cluster.claim("other", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("other", "other");
    assertThat(cluster.note("other", "Unallocatable")).as("processes may hold the 100 GiB yet").isNotBlank();
    saysInForce("c", "memory=20Gi,cores=0");
    cluster.result("other");
  }

  @Test
  void theSizeOfTheAllocationCountsAgainOnceItsNodeSaysThatItIsInForce() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "20Gi");
    ask("c", "memory=100Gi");
    awaitAnswer("c", "memory=100Gi: granted");
    saysInForce("c", "memory=100Gi,cores=0");
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: granted");
    cluster.claim("other", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("other", "other");
    assertThat(cluster.note("other", "Unallocatable")).as("processes may hold the 100 GiB yet").isNotBlank();
    saysNothingOfSizes("c");
    cluster.result("other");
  }

  @Test
  void whatAShareThatNobodyUsesYetGivesBackIsForThoseWhoWait() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "20Gi");
    ask("c", "memory=100Gi");
    awaitAnswer("c", "memory=100Gi: granted");
    cluster.claim("other", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("other", "other");
    assertThat(cluster.note("other", "Unallocatable")).isNotBlank();
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: granted");
    cluster.result("other");
  }

  @Test
  void whatAShareInUseWasGrantedIsTakenBackOnceItsNodeHasSaidThatItIsInForce() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "20Gi");
    cluster.reserve("c", "c");
    ask("c", "memory=100Gi");
    awaitAnswer("c", "memory=100Gi: granted");
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: waits: node node-0 has yet to say that memory=100Gi,cores=0 is in force");
    saysInForce("c", "memory=100Gi,cores=0");
    awaitAnswer("c", "memory=20Gi: granted");
  }

  /** Neither of them is told to the node. */
  @Test
  void whatTwoControllersHaveGrantedAtOnceBeyondTheCardCanBeTakenBackAtOnce() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    for (String name : List.of("c", "other")) {
      String id = share(name, "20Gi");
      cluster.reserve(name, name);
      cluster.client.resources(ResourceClaim.class).inNamespace("default").withName(name)
          .edit(read -> new GrantedSizes(Map.of(id, ShareSize.parse("memory=100Gi,cores=0").orElseThrow())).on(read));
    }
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: granted");
    ask("other", "memory=30Gi");
    assertThat(awaitAnswer("other", "memory=30Gi: ")).as("its node may be told of its 100 GiB now").contains("waits");
  }

  @Test
  void aQuotaHoldsForWhatAClaimGrowsTo() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.labelNamespace("team", "a");
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("", List.of(), null, new Amounts(new Quantity("20Gi"), null, null, null),
            Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    cluster.start();
    share("c", "8Gi");
    ask("c", "memory=30Gi");
    assertThat(awaitAnswer("c", "memory=30Gi: waits: ")).contains("namespace quota");
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: granted");
  }

  @Test
  void whatCanNeverBeHadIsRefusedWithTheReason() {
    cluster.add(GpuNodes.ready("node-0", 2, H200, CARD));
    cluster.start();
    share("c", "8Gi");
    ask("c", "memory=1Ti");
    assertThat(awaitAnswer("c", "memory=1Ti: refused: ")).contains("GiB for shares");
    ask("c", "left.memory=9Gi");
    assertThat(awaitAnswer("c", "left.memory=9Gi: refused: ")).contains("no share for request left, but for gpu");
    ask("c", "plenty");
    assertThat(awaitAnswer("c", "plenty: refused: ")).contains("write memory=12Gi,cores=40");
    ask("c", "x".repeat(100_000));
    assertThat(awaitAnswer("c", "xxx")).endsWith("…: refused: has more than the 4096 characters that are read");
    cluster.holdWholeCard("whole");
    ask("whole", "memory=9Gi");
    assertThat(awaitAnswer("whole", "memory=9Gi: refused: "))
        .contains("whole cards, MIG instances and shares by MPS keep their size");
    assertThat(GrantedSizes.isOn(cluster.read("c"))).isFalse();
  }

  @Test
  void whatWasGrantedToAnEarlierAllocationMeansNothingToTheNext() {
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.start();
    share("c", "8Gi");
    ask("c", "memory=100Gi");
    awaitAnswer("c", "memory=100Gi: granted");
    GrantedSizes before = GrantedSizes.of(cluster.read("c"));
    ask("c", "memory=8Gi");
    awaitAnswer("c", "memory=8Gi: granted");
    cluster.release("c");
    cluster.pod("c2", "c");
    DeviceRequestAllocationResult again = cluster.result("c");
    assertThat(before.ofShare(again.getShareID())).isEmpty();
    cluster.claim("other", "gpu.partita.dev", Map.of("memory", "120Gi"));
    cluster.pod("other", "other");
    cluster.result("other");
  }

  @Test
  void whatIsAskedForWhileAGrantIsBeingWrittenIsAnsweredAfterIt() {
    CompletableFuture<?> seen = new CompletableFuture<>(); // whoever waits for it leaves others their threads
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.startHearing(request -> {
      if (String.valueOf(request.bodyString()).contains("memory=20Gi: granted")) {
        seen.join();
      }
    });
    share("c", "8Gi");
    ask("c", "memory=20Gi");
    awaitAnswer("c", "memory=20Gi: granted");
    ask("c", "memory=12Gi");
    share("later", "8Gi"); // claims' changes are seen in order
    seen.complete(null);
    awaitAnswer("c", "memory=12Gi: granted");
  }

  @Test
  void anAnswerThatIsCutWithinACharacterIsWrittenOnce() {
    Queue<String> writes = new ConcurrentLinkedQueue<>();
    cluster.add(GpuNodes.ready("node-0", 1, H200, CARD));
    cluster.startHearing(request -> {
      if (String.valueOf(request.bodyString()).contains(": refused: ")) {
        writes.add(request.uri().getPath());
      }
    });
    share("c", "8Gi");
    share("later", "8Gi");
    ask("c", "x".repeat(199) + "😀".repeat(9));
    awaitAnswer("c", "xxx");
    ask("later", "plenty");
    awaitAnswer("later", "plenty: refused: ");
    ask("later", "more"); // whoever is answered again waits for as long as a write that comes again
    awaitAnswer("later", "more: refused: ");
    assertThat(writes).filteredOn(path -> path.endsWith("/c")).hasSize(1);
  }

  /** A share that a pod of the same name has; its ID. */
  private String share(String name, String memory) {
    cluster.claim(name, "gpu.partita.dev", Map.of("memory", memory));
    cluster.pod(name, name);
    return Objects.requireNonNull(cluster.result(name).getShareID());
  }

  private void ask(String claim, String size) {
    cluster.client.resources(ResourceClaim.class).inNamespace("default").withName(claim)
        .edit(read -> new ResourceClaimBuilder(read).editMetadata()
            .addToAnnotations(Driver.RESIZE_ANNOTATION, size).endMetadata().build());
  }

  private String awaitAnswer(String claim, String begins) {
    return eventually().until(
        () -> String.valueOf(cluster.read(claim).getMetadata().getAnnotations().get(Driver.RESIZE_ANSWER_ANNOTATION)),
        answer -> answer.startsWith(begins));
  }

  private NodeResizes told(String node) {
    return Objects.requireNonNull(cluster.client.resources(GpuNode.class).withName(node).get()).getStatus().resizes();
  }

  /** What the plugin does when the claim's share has the size of its allocation again. */
  private void saysNothingOfSizes(String claim) {
    cluster.client.resource(new ResourceClaimBuilder(cluster.read(claim)).editStatus().withDevices(List.of())
        .endStatus().build()).updateStatus();
  }

  /** What the plugin does when the claim's share has that size. */
  private void saysInForce(String claim, String size) {
    DeviceRequestAllocationResult result = cluster.result(claim);
    cluster.client.resource(new ResourceClaimBuilder(cluster.read(claim)).editStatus()
        .withDevices(new AllocatedDeviceStatusBuilder().withDriver(Driver.NAME).withPool(result.getPool())
            .withDevice(result.getDevice()).withShareID(result.getShareID())
            .withData(new RawExtension(Map.of(DeviceStatusData.SIZE_IN_FORCE.key(), size))).build())
        .endStatus().build()).updateStatus();
  }
}
