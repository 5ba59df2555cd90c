package dev.partita.controller.decide;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says beside what a pod of a gang is decided.
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
