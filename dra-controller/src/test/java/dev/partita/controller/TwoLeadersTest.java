package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Instances that all believe that they lead. */
class TwoLeadersTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void noCardIsAllocatedTwiceByTwoThatBothAllocate() {
    for (int i = 0; i < 3; i++) {
      cluster.add(GpuNodes.ready("node-" + i, 2, "NVIDIA H200", 100 * GpuNodes.GIB));
    }
    cluster.start().start();
    int claims = 24;
    for (int i = 0; i < claims; i++) {
      cluster.claim("c" + i, "gpu.partita.dev", Map.of("memory", "30Gi"));
      cluster.pod("p" + i, "c" + i);
    }
    // Three of 30 GiB on each of the six cards.
    eventually()
        .atMost(java.time.Duration.ofSeconds(60))
        .until(
            () -> {
              assertNothingIsAllocatedTwice();
              return allocated().size() == 18;
            });
    eventually().during(java.time.Duration.ofMillis(500)).untilAsserted(this::assertNothingIsAllocatedTwice);
  }

  @Test
  void whatAnotherIsAboutToAllocateIsTakenUntilItIsSeenThatNobodyDoes() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 100 * GpuNodes.GIB));
    ResourceClaim others = cluster.claim("others", "gpu.partita.dev", Map.of("memory", "80Gi"));
    cluster.client
        .resource(
            new ResourceClaimBuilder(others)
                .editMetadata()
                .addToAnnotations(Driver.PROPOSAL_ANNOTATION, "node-0 gpu-0-shared=" + 80 * GpuNodes.GIB + "/0 #1")
                .endMetadata()
                .build())
        .update();
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "30Gi"));
    cluster.pod("p", "c");
    cluster.result("c");
    eventually()
        .untilAsserted(() -> assertThat(cluster.read("others").getMetadata().getAnnotations()).as("withdrawn first")
            .isNullOrEmpty());
  }

  private List<ResourceClaim> allocated() {
    return cluster.client.resources(ResourceClaim.class).inNamespace("default").list().getItems().stream()
        .filter(claim -> claim.getStatus() != null && claim.getStatus().getAllocation() != null)
        .toList();
  }

  private void assertNothingIsAllocatedTwice() {
    Map<String, Long> allocated = new HashMap<>();
    for (ResourceClaim claim : allocated()) {
      DeviceRequestAllocationResult result = claim.getStatus().getAllocation().getDevices().getResults().getFirst();
      Quantity memory = java.util.Objects.requireNonNull(result.getConsumedCapacity().get("memory"));
      allocated.merge(result.getPool() + "/" + result.getDevice(), memory.getNumericalAmount().longValueExact(),
          Long::sum);
    }
    assertThat(allocated.values()).allSatisfy(bytes -> assertThat(bytes).isLessThanOrEqualTo(100 * GpuNodes.GIB));
  }
}
