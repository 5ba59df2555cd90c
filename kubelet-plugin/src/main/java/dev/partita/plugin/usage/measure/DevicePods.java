package dev.partita.plugin.usage.measure;

import dev.partita.plugin.grant.ClaimRef;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Optional;
import java.util.Set;

/**
 * Tells which pods of this node have a claim's devices. A claim may be reserved for a PodGroup (KEP-5729): then it
 * names none of the pods that use it.
 */
@FunctionalInterface
public interface DevicePods {
  /** UIDs of the pods; empty where that cannot be told now. */
  Optional<Set<String>> of(ClaimRef claim);

  /** The same for a claim that is reserved for something else than pods; none for any other. */
  default Optional<Set<String>> unnamedIn(ResourceClaim claim, ClaimRef ref) {
    return claim.getStatus() == null || claim.getStatus().getReservedFor() == null
        || claim.getStatus().getReservedFor().stream().allMatch(consumer -> "pods".equals(consumer.getResource()))
            ? Optional.of(Set.of())
            : of(ref);
  }
}
