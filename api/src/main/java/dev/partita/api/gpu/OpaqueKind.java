package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/**
 * What is known only of an opaque card: one that an administrator lists in a file on its node, for no driver describes
 * it to the plugin. It is allocated and counted by the books alone.
 *
 * @param vendor who makes it, such as AMD
 * @param serial what tells it from the other cards of its node, as the file has it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record OpaqueKind(
    @JsonPropertyDescription("Who makes the card, such as AMD.") String vendor,
    @JsonPropertyDescription("What tells it from the other cards of its node, as the file has it.") String serial) {}
