package dev.partita.plugin.claimread;

import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;

/**
 * What the preparation of a claim is decided by: the claim as it was read, and what its allocation gives it of this
 * node's cards.
 *
 * @param claim as the API server has it
 * @param cards this node's
 * @param allocation what the claim is given of them
 * @param view what its containers see of that; nothing if that was not asked for, or if the allocation is refused
 */
public record ClaimReading(
    ClaimRef ref,
    ResourceClaim claim,
    Inventory.Cards cards,
    AllocationDecoder.Outcome allocation,
    ContainerView view) {}
