package dev.partita.controller.decide;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells what the search for a place of a gang's pod has to take into account: what others of the gang were given
 * before, and which nodes were found too full for all of them.
 *
 * @param placed claims that count as allocated, by UID, and on which node
 * @param tooFull claims that others of the gang use as well, by UID: why a node, by its name, has no room for all of
 *        these
 */
public record Beside(Map<String, String> placed, Map<String, Map<String, String>> tooFull) {
  /** For a pod that is decided by itself. */
  public static final Beside NOTHING = new Beside(Map.of(), Map.of());

  /** Why the claim is not to be had on the node; empty if it is. */
  Optional<String> refusal(String claimUid, String node) {
    @Nullable String why = tooFull.getOrDefault(claimUid, Map.of()).get(node);
    return Optional.ofNullable(why).map(words -> "no room for all pods of the gang that use the claim: " + words);
  }
}
