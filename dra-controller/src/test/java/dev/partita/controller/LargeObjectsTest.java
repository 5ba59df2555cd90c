package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceToleration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTolerationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Objects of which the controller keeps a part. */
class LargeObjectsTest {
  private final Cluster cluster = Cluster.empty();

  @BeforeEach
  void twoCards() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 100 * GpuNodes.GIB));
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void annotationsOfOthersAreStillOnAClaimThatWasProposedForAndWritten() {
    annotate(cluster.claim("a", "gpu.partita.dev", Map.of("memory", "1Gi")));
    cluster.pod("a", "a");
    cluster.start();
    cluster.result("a");
    assertThat(cluster.read("a").getMetadata().getAnnotations()).containsEntry("others/a", "1")
        .containsEntry("others/b", "2").containsKey(Driver.PROPOSAL_ANNOTATION);
  }

  @Test
  void annotationsAndStatusOfOthersAreStillOnAClaimWhoseAllocationIsTakenBack() {
    annotate(cluster.claim("a", "gpu.partita.dev", Map.of("memory", "1Gi")));
    cluster.pod("a", "a");
    cluster.start();
    cluster.result("a");
    cluster.client
        .resource(new ResourceClaimBuilder(cluster.read("a")).editStatus().addNewDevice().withDevice("gpu-0-shared")
            .withDriver("others").withPool("p").endDevice().endStatus().build())
        .updateStatus();
    cluster.client.pods().inNamespace("default").withName("a").delete();
    eventually().until(() -> !cluster.isAllocated("a")
        && !cluster.read("a").getMetadata().getAnnotations().containsKey(Driver.PROPOSAL_ANNOTATION));
    ResourceClaim freed = cluster.read("a");
    assertThat(freed.getMetadata().getAnnotations()).containsEntry("others/a", "1").containsEntry("others/b", "2");
    assertThat(freed.getStatus().getDevices()).as("what drivers say of devices is theirs to take away").hasSize(1);
  }

  @Test
  void aPodWhoseTolerationsAreTooManyIsToldSoAndItsNeighbourIsServed() {
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("large", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.claim("small", "gpu.partita.dev", Map.of("memory", "1Gi"));
    List<Toleration> many =
        IntStream.range(0, 2000).mapToObj(i -> new Toleration("NoSchedule", "key-" + i, "Exists", null, null)).toList();
    cluster.client
        .resource(
            new PodBuilder().withNewMetadata().withName("large").withNamespace("default").endMetadata()
                .withNewSpec().withTolerations(many).addNewResourceClaim().withName("large")
                .withResourceClaimName("large").endResourceClaim().endSpec()
                .build())
        .create();
    cluster.pod("small", "small");
    assertThat(cluster.note("large", "Unallocatable")).contains("the pod's spec.tolerations is too large");
    cluster.result("small");
    assertThat(cluster.isAllocated("large")).isFalse();
  }

  @Test
  void aClaimThatIsTooLargeIsRefusedWithTheReasonAndNotAllocated() {
    cluster.start();
    cluster.awaitOffered("node-0");
    ResourceClaim claim =
        cluster.claim("large", "gpu.partita.dev", Map.of("memory", "1Gi"), Map.of("note", "x".repeat(70_000)));
    cluster.pod("large", claim.getMetadata().getName());
    assertThat(cluster.note("large", "Unallocatable")).contains("spec.devices is too large").contains("64 KiB");
    assertThat(cluster.isAllocated("large")).isFalse();
  }

  /** Each result has the tolerations of its request, so that an allocation is far larger than what was asked for. */
  @Test
  void whatAClaimWasAllocatedCountsHoweverLongTheTolerationsOfItsRequestAre() {
    cluster.add(GpuNodes.ready("node-1", 4, "NVIDIA H200", 100 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-1");
    cluster.claim(new ClaimForm("tolerates", "whole.gpu.partita.dev").count(4).tolerations(longest()));
    cluster.pod("tolerates", "tolerates");
    cluster.result("tolerates");
    cluster.claim(new ClaimForm("next", "whole.gpu.partita.dev").count(4));
    cluster.pod("next", "next");
    eventually().until(() -> cluster.isAllocated("next") || !cluster.events("next", "Unallocatable").isEmpty());
    assertThat(cluster.isAllocated("next")).as("cards that are taken were given away once more").isFalse();
  }

  /** As many as the API takes, of keys as long as it takes them. */
  private static List<DeviceToleration> longest() {
    String domain = String.join(".", Collections.nCopies(4, "d".repeat(62)));
    return IntStream.range(0, 16).mapToObj(i -> new DeviceTolerationBuilder()
        .withKey(domain + "/" + "k".repeat(61) + (10 + i)).withOperator("Equal").withValue("v".repeat(63))
        .withEffect("NoExecute").withTolerationSeconds(Long.MAX_VALUE).build())
        .toList();
  }

  private void annotate(ResourceClaim claim) {
    cluster.client.resource(new ResourceClaimBuilder(claim).editMetadata()
        .addToAnnotations(Map.of("others/a", "1", "others/b", "2")).endMetadata().build()).update();
  }
}
