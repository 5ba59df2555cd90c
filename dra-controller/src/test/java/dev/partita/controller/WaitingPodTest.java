package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocationStatus;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What ends the wait of a pod, besides cards that are given back. */
class WaitingPodTest {
  private static final List<String> GATE = List.of("gpu.partita.dev/allocation");

  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aPodWithoutCardsThatEndsMakesRoomOfCpu() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.nodes().withName("node-0").editStatus(
        node -> new NodeBuilder(node).withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build());
    Pod other = cluster.client.resource(requesting("other", "3")).create();
    cluster.bindAndRun("other", "node-0");
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(asking(requesting("p", "2"), "c")).create();
    assertThat(cluster.note("c", "Unallocatable")).contains("too little CPU is free on the node");
    cluster.client.resource(other).delete();
    assertThat(cluster.result("c").getDevice()).isEqualTo("gpu-0-shared");
  }

  @Test
  void aPodThatIsBeingDeletedTakesItsCpuUntilItIsGone() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.nodes().withName("node-0").editStatus(
        node -> new NodeBuilder(node).withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build());
    Pod other = cluster.client.resource(new PodBuilder(requesting("other", "3")).editMetadata()
        .addToFinalizers("example.com/slow").endMetadata().build()).create();
    cluster.bindAndRun("other", "node-0");
    cluster.start();
    cluster.client.resource(other).delete();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(asking(requesting("p", "2"), "c")).create();
    assertThat(cluster.note("c", "Unallocatable")).contains("too little CPU is free on the node");
    cluster.client.pods().inNamespace("default").withName("other")
        .edit(pod -> new PodBuilder(pod).editMetadata().withFinalizers(List.of()).endMetadata().build());
    assertThat(cluster.result("c").getDevice()).isEqualTo("gpu-0-shared");
  }

  @Test
  void aPodWhoseAllocationCannotBeWrittenTakesNoCpuMeanwhile() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.nodes().withName("node-0").editStatus(
        node -> new NodeBuilder(node).withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build());
    cluster.rules.forbid("/resourceclaims/refused/status");
    cluster.start();
    cluster.claim("refused", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(asking(requesting("refused", "3"), "refused")).create();
    eventually().until(() -> cluster.rules.refusals() > 0);
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(asking(requesting("p", "3"), "c")).create();
    assertThat(cluster.result("c").getDevice()).isEqualTo("gpu-0-shared");
  }

  @Test
  void theCpuOfAPodThatKubeSchedulerVetoesIsForThoseThatGoBeforeIt() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.nodes().withName("node-0").editStatus(
        node -> new NodeBuilder(node).withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build());
    cluster.start();
    cluster.claim("first", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(asking(requesting("first", "3"), "first")).create();
    cluster.result("first");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(new PodBuilder(asking(requesting("p", "3"), "c")).editSpec().withPriority(10)
        .withPreemptionPolicy("Never").endSpec().build()).create();
    assertThat(cluster.note("c", "Unallocatable")).contains("too little CPU is free on the node");
    cluster.deallocate("first");
    assertThat(cluster.result("c").getDevice()).isEqualTo("gpu-0-shared");
  }

  @Test
  void theCpuOfAPodThatAnotherDriverHadPlacedIsFreeWhenThatTakesItsClaimBack() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.nodes().withName("node-0").editStatus(
        node -> new NodeBuilder(node).withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build());
    cluster.start();
    ResourceClaim nic = cluster.claim("nic", "nic.example.com", Map.of());
    cluster.client.resource(new ResourceClaimBuilder(nic).withNewStatus().withNewAllocation().withNewDevices()
        .addNewResult().withRequest("gpu").withDriver("nic.example.com").withPool("node-0").withDevice("nic-0")
        .endResult().endDevices().withNodeSelector(AllocationStatus.onlyOn("node-0")).endAllocation().endStatus()
        .build()).updateStatus();
    cluster.client.resource(asking(requesting("other", "3"), "nic")).create();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(new PodBuilder(asking(requesting("p", "3"), "c")).editSpec().withPriority(10)
        .withPreemptionPolicy("Never").endSpec().build()).create();
    assertThat(cluster.note("c", "Unallocatable")).contains("too little CPU is free on the node");
    cluster.deallocate("nic");
    assertThat(cluster.result("c").getDevice()).isEqualTo("gpu-0-shared");
  }

  @Test
  void aNewLeaderCountsThePodsThatHaveTheirPlaceAndAreNotBoundYetBeforeItDecides() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.nodes().withName("node-0").editStatus(
        node -> new NodeBuilder(node).withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build());
    cluster.start();
    cluster.claim("placed", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(asking(requesting("placed", "3"), "placed")).create();
    cluster.result("placed");
    cluster.stopControllers();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(new PodBuilder(asking(requesting("p", "3"), "c")).editSpec().withPriority(10)
        .withPreemptionPolicy("Never").endSpec().build()).create();
    cluster.start();
    eventually().until(() -> cluster.isAllocated("c") || !cluster.events("c", "Unallocatable").isEmpty());
    assertThat(cluster.isAllocated("c")).isFalse();
    assertThat(cluster.note("c", "Unallocatable")).contains("too little CPU is free on the node");
  }

  @Test
  void whatAWaitingPodHasOfNoUseIsGivenBackHoweverOftenThatFails() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("unused", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.claim("lost", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("p", "unused", "lost");
    cluster.result("unused");
    cluster.result("lost");
    cluster.rules.forbid("/resourceclaims/unused/status");
    cluster.client.nodes().withName("node-0")
        .edit(node -> new NodeBuilder(node).editSpec().withUnschedulable(true).endSpec().build());
    cluster.deallocate("lost");
    cluster.note("lost", "Unallocatable");
    eventually().until(() -> cluster.rules.refusals() >= 5);
    cluster.rules.permit("/resourceclaims/unused/status");
    eventually().until(() -> !cluster.isAllocated("unused"));
  }

  @Test
  void whatAPodHasIsGivenBackIfAnotherClaimOfItIsDeleted() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("unused", "gpu.partita.dev", Map.of("memory", "8Gi"));
    ResourceClaim lost = cluster.claim("lost", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("p", "unused", "lost");
    cluster.result("unused");
    cluster.result("lost");
    cluster.client.resource(lost).delete();
    eventually().until(() -> !cluster.isAllocated("unused"));
  }

  @Test
  void whatAPodHasIsGivenBackIfAnotherClaimOfItIsRefused() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("unused", "gpu.partita.dev", Map.of("memory", "8Gi"));
    Pod first = cluster.pod("first", "unused");
    cluster.result("unused");
    cluster.claim("refused", "gpu.partita.dev", Map.of("speed", "1"));
    cluster.pod("p", "unused", "refused");
    cluster.note("refused", "Unallocatable");
    cluster.client.resource(first).delete();
    eventually().until(() -> !cluster.isAllocated("unused"));
  }

  @Test
  void cardsOfANodeWhereKubeSchedulerAllocatesAreForAPodThatTheControllerHasNoneFor() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.leftToScheduler("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.holdWholeCard("first");
    cluster.claim("large", "gpu.partita.dev", Map.of("memory", "141Gi"));
    cluster.gatedPod("nowhere", GATE, "large");
    assertThat(cluster.note("large", "Unallocatable")).isNotBlank();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().untilAsserted(() -> assertThat(cluster.gates("p")).isEmpty());
    assertThat(cluster.isAllocated("c")).as("that is for kube-scheduler to do").isFalse();
    assertThat(cluster.gates("nowhere")).as("kube-scheduler has none for it either").isEqualTo(GATE);
  }

  @Test
  void whatKubeSchedulerTookBackAndMayAllocateItselfIsProposedNoMore() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.leftToScheduler("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("p", "c");
    assertThat(cluster.result("c").getPool()).isEqualTo("node-0/gpu");
    cluster.client.nodes().withName("node-0")
        .edit(node -> new NodeBuilder(node).editSpec().withUnschedulable(true).endSpec().build());
    cluster.deallocate("c");
    eventually().until(() -> !cluster.isAllocated("c") && !AllocatedClaim.isProposed(cluster.read("c")));
  }

  @Test
  void slicesThatComeBackEndTheWaitOfAPodThatFoundNone() {
    String plugin = cluster.pluginPod("True");
    cluster.add(GpuNodes.withPlugin(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB), plugin));
    cluster.start();
    eventually().until(() -> cluster.slices().size() == 1);
    cluster.pluginPod("False");
    int pods = 0;
    String last;
    do { // until one comes after the controller has seen that they are gone
      // again if it published them once more: it may see them go before it sees that the plugin is not ready
      cluster.slices().forEach(slice -> cluster.client.resource(slice).delete());
      last = "p" + pods++;
      cluster.claim(last, "gpu.partita.dev", Map.of("memory", "1Gi"));
      cluster.pod(last, last);
      String each = last;
      eventually().until(() -> cluster.isAllocated(each) || !cluster.events(each, "Unallocatable").isEmpty());
    } while (cluster.isAllocated(last));
    cluster.pluginPod("True");
    cluster.result(last);
  }

  private static Pod asking(Pod pod, String claim) {
    return new PodBuilder(pod).editSpec().addNewResourceClaim().withName(claim).withResourceClaimName(claim)
        .endResourceClaim().endSpec().build();
  }

  private static Pod requesting(String name, String cpu) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToRequests("cpu", new Quantity(cpu))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
