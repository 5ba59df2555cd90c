package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/**
 * A card of the same node to which NVLinks lead directly.
 *
 * @param index of that card
 * @param links how many active links lead there
 */
public record NvlinkPeer(
    @JsonPropertyDescription("Index of the card at the other end.") int index,
    @JsonPropertyDescription("How many active links lead there.") int links) {}
