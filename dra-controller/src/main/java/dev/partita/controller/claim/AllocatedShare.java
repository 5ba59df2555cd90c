package dev.partita.controller.claim;

import dev.partita.api.DeviceName;
import dev.partita.controller.inventory.CardKey;

/**
 * A share of a card that a claim has.
 *
 * @param request the claim's request that it answers, without its subrequest
 * @param shareId as the allocation has it
 * @param device as which it is allocated
 * @param card the card
 * @param sizes how much of the card it has
 */
public record AllocatedShare(
    String request,
    String shareId,
    DeviceName device,
    CardKey card,
    ShareSizes sizes) {}
