package dev.partita.controller.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.node.BindingClaim;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeBindingClaimsTest {
  private static ResourceClaim claim(String name, String driver, String node, String... conditions) {
    return new ResourceClaimBuilder().withNewMetadata().withNamespace("team").withName(name).withUid("uid-" + name)
        .endMetadata().withNewStatus().withNewAllocation().withAllocationTimestamp("2026-01-01T00:00:00Z")
        .withNewDevices()
        .withResults(new DeviceRequestAllocationResultBuilder().withDriver(driver).withPool(node + "/gpu")
            .withDevice("gpu-0-mig-1g-18gb-0").withBindingConditions(conditions).build())
        .endDevices().endAllocation().endStatus().build();
  }

  @Test
  void aNodeIsToldOfTheClaimsThatHaveInstancesThereForWhichKubeSchedulerWaits() {
    assertThat(NodeBindingClaims.of(
        List.of(claim("b", Driver.NAME, "node-0", "InstanceMade"), claim("a", Driver.NAME, "node-0", "InstanceMade"),
            claim("bound-at-once", Driver.NAME, "node-0"), claim("elsewhere", Driver.NAME, "node-1", "InstanceMade"),
            claim("other-driver", "gpu.nvidia.com", "node-0", "InstanceMade"),
            new ResourceClaimBuilder().withNewMetadata().withName("unallocated").endMetadata().build()),
        "node-0"))
        .containsExactly(new BindingClaim("team", "a", "uid-a", "2026-01-01T00:00:00Z"),
            new BindingClaim("team", "b", "uid-b", "2026-01-01T00:00:00Z"));
  }

  @Test
  void aNodeIsToldOfSoManyOnly() {
    assertThat(NodeBindingClaims.of(IntStream.range(0, NodeBindingClaims.MOST + 1)
        .mapToObj(i -> claim("c" + i, Driver.NAME, "node-0", "InstanceMade")).toList(), "node-0"))
        .hasSize(NodeBindingClaims.MOST);
  }
}
