package dev.partita.plugin.claimread;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reads what a claim's preparation is decided by: the claim, this node's cards, and what the claim's allocation gives
 * of them. It holds no lock meanwhile, since the API server and the driver may take long to answer.
 *
 * @param pool this node's pool
 * @param node the node's settings; throws IllegalStateException while they are not known
 */
public record AllocationReader(String pool, ClaimReader api, NodeInventory inventory, Supplier<GpuNodeSpec> node) {
  /** What a call reads of the API server: nothing yet. */
  public CallReads newReads() {
    return new CallReads(api, pool);
  }

  /**
   * Reads; empty if the claim does not exist any more. Throws IllegalStateException while the node's cards or settings
   * are not known.
   *
   * @param reads what the call has read before
   * @param withView whether it matters what the claim's containers see
   */
  public Optional<ClaimReading> read(ClaimRef ref, CallReads reads, boolean withView) {
    return reads.claim(ref).map(claim -> {
      GpuNodeSpec settings = node.get();
      Decoded decoded = decoded(claim, settings);
      ContainerView view = withView && decoded.allocation() instanceof AllocationDecoder.Granted granted
          ? new Containers(reads, decoded.cards(), settings).view(ref, claim, granted.grants())
          : new ContainerView(Map.of(), false);
      return new ClaimReading(ref, claim, decoded.cards(), decoded.allocation(), view);
    });
  }

  /** An allocation, and the cards by which it was decoded. */
  private record Decoded(Inventory.Cards cards, AllocationDecoder.Outcome allocation) {}

  /**
   * Decodes the claim's allocation. The cards are read once more if it names one that the last reading does not have,
   * or if the driver is another one since: a container does not start that is to get files of the driver before.
   */
  private Decoded decoded(ResourceClaim claim, GpuNodeSpec settings) {
    if (inventory.current() instanceof Inventory.Cards cards && cards.files().flatMap(DriverFiles::gone).isEmpty()) {
      AllocationDecoder.Outcome allocation = AllocationDecoder.read(claim, pool, cards, settings);
      if (allocation instanceof AllocationDecoder.Granted) {
        return new Decoded(cards, allocation);
      }
    }
    return switch (inventory.refresh()) {
      case Inventory.Cards cards -> new Decoded(cards, AllocationDecoder.read(claim, pool, cards, settings));
      case Inventory.NoCards none -> throw new IllegalStateException(none.reason() + ": " + none.message());
    };
  }
}
