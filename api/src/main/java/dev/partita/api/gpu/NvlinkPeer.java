package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;

/**
 * A card of the same node to which NVLinks lead directly.
 *
 * @param index of that card
 * @param links how many active links lead there
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record NvlinkPeer(
    @JsonPropertyDescription("Index of the card at the other end.") @Min(0) @Max(Integer.MAX_VALUE) int index,
    @JsonPropertyDescription("How many active links lead there.") @Min(0) @Max(Integer.MAX_VALUE) int links) {}
