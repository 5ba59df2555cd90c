package dev.partita.api.quota;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/**
 * Amounts of what claims take of cards. A card that is taken as a whole counts with all its memory and 100 % of its
 * cores.
 *
 * @param memory device memory; null where none is named
 * @param cores percent of a card's cores, so that 250 are those of two and a half cards; null where none is named
 * @param cards devices, whole or shared, one each; null where none is named
 * @param claims ResourceClaims; null where none is named
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Amounts(
    @JsonPropertyDescription("Device memory, such as 40Gi.") @Nullable Quantity memory,
    @JsonPropertyDescription("Percent of a card's cores: 250 are those of two and a half cards.") @Min(0)
    @Nullable Long cores,
    @JsonPropertyDescription("Devices, whole or shared, one each.") @Min(0) @Nullable Long cards,
    @JsonPropertyDescription("ResourceClaims.") @Min(0) @Nullable Long claims) {
  /** Names nothing. */
  public static final Amounts UNLIMITED = new Amounts(null, null, null, null);
}
