package dev.partita.controller.slices;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceAttribute;
import dev.partita.api.Driver;
import dev.partita.controller.watch.AllocatedDevices;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What claims have of a node's devices, whoever allocated them. What is only looked at (adminAccess) is not there.
 *
 * @param memory bytes by name of the device; {@link #ALL} of one that has no consumed capacity
 */
record PoolUse(Map<String, Long> memory) {
  private static final long ALL = Long.MAX_VALUE;

  static PoolUse of(String node, Collection<ResourceClaim> claims) {
    Map<String, Long> memory = new HashMap<>();
    for (ResourceClaim claim : claims) {
      for (DeviceRequestAllocationResult result : AllocatedDevices.of(claim)) {
        if (isOf(node, result) && !Boolean.TRUE.equals(result.getAdminAccess())) {
          memory.merge(result.getDevice(), consumed(result), (one, other) -> one == ALL || other == ALL ? ALL : one + other);
        }
      }
    }
    return new PoolUse(memory);
  }

  /** The node of which the claim has devices; empty if it has none of ours. */
  static Optional<String> node(ResourceClaim claim) {
    String suffix = Driver.poolOf("");
    return AllocatedDevices.of(claim).stream()
        .filter(result -> Driver.NAME.equals(result.getDriver()) && result.getPool().endsWith(suffix))
        .map(result -> result.getPool().substring(0, result.getPool().length() - suffix.length()))
        .findFirst();
  }

  Set<String> devices() {
    return memory.keySet();
  }

  /**
   * Best fit first: kube-scheduler takes the first devices that fit, in the order in which a slice lists them. Begun cards come before untouched
   * ones, of each those with the least memory left first; what nothing is left of comes last.
   */
  Comparator<PublishedCard> bestFitFirst() {
    return Comparator.comparingInt(this::rank).thenComparingLong(this::left).thenComparingInt(PublishedCard::index);
  }

  private int rank(PublishedCard card) {
    if (card.devices().stream().noneMatch(device -> memory.containsKey(device.getName()))) {
      return 1;
    }
    return left(card) > 0 ? 0 : 2;
  }

  /** Bytes of the card that nobody has. */
  private long left(PublishedCard card) {
    long left = card.devices().stream().mapToLong(PoolUse::capacity).max().orElse(0);
    for (Device device : card.devices()) {
      left -= Math.min(left, Math.min(memory.getOrDefault(device.getName(), 0L), capacity(device)));
    }
    return left;
  }

  private static long capacity(Device device) {
    @Nullable DeviceCapacity capacity = device.getCapacity() == null ? null : device.getCapacity().get(DeviceAttribute.MEMORY);
    return capacity == null ? 0 : Bytes.of(capacity.getValue());
  }

  private static long consumed(DeviceRequestAllocationResult result) {
    @Nullable Quantity memory = result.getConsumedCapacity() == null ? null : result.getConsumedCapacity().get(DeviceAttribute.MEMORY);
    return memory == null ? ALL : Bytes.of(memory);
  }

  private static boolean isOf(String node, DeviceRequestAllocationResult result) {
    return Driver.NAME.equals(result.getDriver()) && Driver.poolOf(node).equals(result.getPool()) && result.getDevice() != null;
  }
}
