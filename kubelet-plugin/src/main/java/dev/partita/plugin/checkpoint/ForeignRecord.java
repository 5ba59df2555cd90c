package dev.partita.plugin.checkpoint;

import java.util.Optional;
import java.util.Set;

/**
 * A record that another version of the plugin has written. This version does not know what the record means, only what
 * stands in it.
 *
 * @param uid of the claim
 * @param version of the record
 * @param namespace of the claim, if it is said where this version says it
 * @param name of the claim, likewise
 * @param cards UUIDs of cards that are named anywhere in it; none if it names none, or is no JSON
 */
public record ForeignRecord(
    String uid,
    String version,
    Optional<String> namespace,
    Optional<String> name,
    Set<String> cards) {
  public ForeignRecord {
    cards = Set.copyOf(cards);
  }
}
