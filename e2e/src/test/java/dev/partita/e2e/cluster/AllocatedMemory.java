package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What the claims of a workspace have of cards together.
 *
 * @param bytes by pool and device
 * @param claims how many have something
 */
public record AllocatedMemory(Map<String, Long> bytes, int claims) {
  public static AllocatedMemory of(Workspace workspace) {
    Map<String, Long> bytes = new HashMap<>();
    int claims = 0;
    for (ResourceClaim claim : workspace.client().resources(ResourceClaim.class).inNamespace(workspace.namespace())
        .list().getItems()) {
      if (claim.getStatus() != null && claim.getStatus().getAllocation() != null) {
        claims++;
        for (DeviceRequestAllocationResult result : claim.getStatus().getAllocation().getDevices().getResults()) {
          Quantity memory = Objects.requireNonNull(result.getConsumedCapacity().get("memory"));
          bytes.merge(result.getPool() + "/" + result.getDevice(), memory.getNumericalAmount().longValueExact(),
              Long::sum);
        }
      }
    }
    return new AllocatedMemory(Map.copyOf(bytes), claims);
  }

  /** Fails if a card was given to more than it has. */
  public AllocatedMemory fits() {
    assertThat(bytes).allSatisfy(
        (card, allocated) -> assertThat(allocated)
            .isLessThanOrEqualTo(RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED));
    return this;
  }
}
