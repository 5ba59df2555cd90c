package dev.partita.controller.fleet;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;

/**
 * A fleet as it was counted, from which the next count follows in less time: most of it goes into reading the claims,
 * and those that are the same objects as before are not read again. An informer never changes an object, but has
 * another one in its place.
 */
public final class FleetCount {
  /** Of a fleet without nodes, from which every claim is read. */
  public static final FleetCount NONE = new FleetCount(new Fleet(List.of()), new IdentityHashMap<>());

  private final Fleet fleet;
  private final IdentityHashMap<ResourceClaim, ClaimTaken> read;

  private FleetCount(Fleet fleet, IdentityHashMap<ResourceClaim, ClaimTaken> read) {
    this.fleet = fleet;
    this.read = read;
  }

  /** What was counted. */
  public Fleet fleet() {
    return fleet;
  }

  /**
   * The next count, of all nodes and claims that there are now.
   *
   * @param inventory of these nodes
   */
  public FleetCount refreshed(Inventory inventory, Collection<GpuNode> gpuNodes, Collection<ResourceClaim> claims) {
    IdentityHashMap<ResourceClaim, ClaimTaken> now = new IdentityHashMap<>(claims.size());
    List<ClaimTaken> taken = new ArrayList<>(claims.size());
    for (ResourceClaim claim : claims) {
      ClaimTaken ofClaim = Objects.requireNonNullElseGet(read.get(claim), () -> ClaimTaken.of(claim));
      now.put(claim, ofClaim);
      taken.add(ofClaim);
    }
    return new FleetCount(Fleet.counted(inventory, gpuNodes, taken), now);
  }
}
