package dev.partita.controller.commit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.CardUse;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AllocationTransactionTest {
  private static final GpuNode NODE = GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GpuNodes.GIB);
  private static final ApiEdge EDGE = new ApiEdge(() -> true);

  private static final WriteListener NOBODY =
      new WriteListener() {
        @Override
        public void allocated(ClaimPlacement placement, String node) {}

        @Override
        public void written(ClaimRef claim, Optional<String> version) {}

        @Override
        public void finished(ObjectKey pod, boolean failed) {}

        @Override
        public void notReleased(ObjectKey claim, String claimUid) {}

        @Override
        public void evictionRefused(ObjectKey pod, String podUid, String victimUid) {}

        @Override
        public void evictionNotSent(ObjectKey pod, String podUid, String victimUid) {}
      };

  private final GpuHost host = Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(NODE)).host("node-0"));

  @Test
  void ofTwoInstancesThatGiveTheSameCardToDifferentClaimsAtMostOneWrites() throws Exception {
    try (Cluster cluster = Cluster.empty();
        ClusterView first = view(cluster);
        ClusterView second = view(cluster);
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      cluster.add(NODE);
      Cluster.eventually().until(() -> first.gpuNode("node-0") != null && second.gpuNode("node-0") != null);
      for (int round = 0; round < 15; round++) {
        CyclicBarrier start = new CyclicBarrier(2);
        Future<Boolean> a = threads.submit(attempt(cluster, first, "a" + round, start));
        Future<Boolean> b = threads.submit(attempt(cluster, second, "b" + round, start));
        int written = (a.get() ? 1 : 0) + (b.get() ? 1 : 0);
        assertThat(written).as("round " + round).isLessThanOrEqualTo(1);
        for (String name : List.of("a" + round, "b" + round)) {
          var claim = cluster.client.resources(ResourceClaim.class).inNamespace("default").withName(name);
          written -= cluster.isAllocated(name) ? 1 : 0;
          assertThat(cluster.isAllocated(name) || !AllocatedClaim.isProposed(claim.get()))
              .as("nothing is left of what was not written").isTrue();
          claim.edit(c -> { c.getMetadata().setFinalizers(List.of()); return c; });
          claim.delete();
          ObjectKey key = new ObjectKey("default", name);
          assertThat(first.await(key, () -> first.claim(key) == null, Duration.ofSeconds(8))).isTrue();
          assertThat(second.await(key, () -> second.claim(key) == null, Duration.ofSeconds(8))).isTrue();
        }
        assertThat(written).isZero();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"as it was, true", "gone, false", "not ready, false", "whole cards only, false", "ill, false",
    "of another plugin, false"})
  void nothingIsWrittenWhereTheDeviceCannotBeHadAnyMore(String now, boolean written) throws Exception {
    try (Cluster cluster = Cluster.empty(); ClusterView view = view(cluster)) {
      if (!now.equals("gone")) {
        cluster.add(node(now));
        Cluster.eventually().until(
            () -> view.gpuNode("node-0") != null && Objects.requireNonNull(view.gpuNode("node-0")).getStatus() != null);
      }
      ResourceClaim claim = cluster.claim("c", "gpu.partita.dev", Map.of("memory", "60Gi"));
      assertThat(transaction(cluster, EDGE, view, claim).run()).isEqualTo(written);
      assertThat(cluster.isAllocated("c")).isEqualTo(written);
      assertThat(AllocatedClaim.isProposed(cluster.client.resource(claim).get())).as("it is withdrawn").isFalse();
    }
  }

  private static GpuNode node(String now) {
    Gpu card = GpuNodes.cards("node-0", 1, "NVIDIA H200", 100 * GpuNodes.GIB).getFirst();
    return switch (now) {
      case "not ready" -> {
        GpuNode node = GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(card));
        node.getStatus().conditions().getFirst().setStatus("False");
        yield node;
      }
      case "whole cards only" -> GpuNodes.ready("node-0", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller,
          List.of(GpuNodeSpec.PublishedMode.Whole), null), List.of(card));
      case "ill" -> GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT,
          List.of(card.withHealth(GpuHealth.unhealthy("GpuIsLost", "it fell off the bus"))));
      case "of another plugin" -> GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT,
          List.of(card.withServedBy(List.of(new OtherServer("nvidia.com/gpu", true, 1)))));
      default -> NODE;
    };
  }

  @Test
  void aWriteIsNotTriedAgainWhereKubeSchedulerAllocatesMeanwhile() throws Exception {
    try (Cluster cluster = Cluster.empty(); ClusterView view = view(cluster)) {
      cluster.add(NODE);
      Cluster.eventually().until(() -> view.gpuNode("node-0") != null);
      AtomicInteger tries = new AtomicInteger();
      ApiEdge edge = new ApiEdge(() -> {
        switch (tries.incrementAndGet()) {
          case 2 -> throw new KubernetesClientException("busy", 503, null); // the first one proposes
          case 3 -> leaveToScheduler(cluster, view);
          default -> {}
        }
        return true;
      });
      ResourceClaim claim = cluster.claim("c", "gpu.partita.dev", Map.of("memory", "60Gi"));
      assertThat(transaction(cluster, edge, view, claim).run()).isFalse();
      assertThat(tries).hasValueGreaterThan(2);
      assertThat(cluster.isAllocated("c")).isFalse();
    }
  }

  private static void leaveToScheduler(Cluster cluster, ClusterView view) {
    cluster.client.resources(GpuNode.class).withName("node-0").edit(node -> {
      node.setSpec(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 100 * GpuNodes.GIB).getSpec());
      return node;
    });
    Cluster.eventually().until(() -> GpuNode.isLeftToScheduler(view.gpuNode("node-0")));
  }

  @Test
  void aProposalIsSeenWhenItIsAmongTheClaimsOfItsNode() {
    ResourceClaim before = version("7");
    ResourceClaim proposal = version("8");
    ResourceClaim later = version("9");
    assertThat(AllocationTransaction.isShown(proposal, null, List::of)).isFalse();
    assertThat(AllocationTransaction.isShown(proposal, before, () -> List.of(before))).isFalse();
    assertThat(AllocationTransaction.isShown(proposal, proposal, List::of)).as("only by its name").isFalse();
    assertThat(AllocationTransaction.isShown(proposal, proposal, () -> List.of(proposal))).isTrue();
    assertThat(AllocationTransaction.isShown(proposal, later, List::of)).as("it was withdrawn").isTrue();
  }

  private static ResourceClaim version(String version) {
    return new ResourceClaimBuilder().withNewMetadata().withNamespace("default").withName("claim").withUid("uid")
        .withResourceVersion(version).endMetadata().build();
  }

  private Callable<Boolean> attempt(Cluster cluster, ClusterView view, String name, CyclicBarrier start) {
    ResourceClaim claim = cluster.claim(name, "gpu.partita.dev", Map.of("memory", "60Gi"));
    AllocationTransaction transaction = transaction(cluster, EDGE, view, claim);
    return () -> {
      start.await();
      return transaction.run();
    };
  }

  /** For a pod of the claim's name. */
  private AllocationTransaction transaction(Cluster cluster, ApiEdge edge, ClusterView view, ResourceClaim claim) {
    String name = claim.getMetadata().getName();
    PodPlan plan =
        new PodPlan(cluster.pod(name, name), new Outcome.Allocated("node-0", List.of(placement(claim))),
            Map.of(claim.getMetadata().getUid(), claim), Set.of());
    return new AllocationTransaction(
        new AllocationWriter(cluster.client, edge), view, Clock.systemUTC(), NOBODY, other -> false, List.of(plan));
  }

  private ClaimPlacement placement(ResourceClaim claim) {
    DeviceRequest request =
        DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
            CapacityRequest.of(OptionalLong.of(60 * GpuNodes.GIB), OptionalLong.empty()));
    var device = host.devices().stream().filter(d -> d.allowsMultipleAllocations()).findFirst().orElseThrow();
    Match given = new Match(device, 60 * GpuNodes.GIB, 0, CardUse.of(request.strategy(device.name())));
    return new ClaimPlacement(ClaimReader.ref(claim),
        List.of(new ClaimPlacement.DevicePlacement(request, given)));
  }

  private static ClusterView view(Cluster cluster) {
    ClusterView view = new ClusterView(cluster.client);
    view.start();
    return view;
  }
}
