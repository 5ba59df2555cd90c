package dev.partita.controller.slices;

import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps on which nodes claims have devices, for the view does not say which node a claim has left. For any thread.
 */
final class ClaimNodes {
  private final Map<String, String> nodes = new ConcurrentHashMap<>();

  /**
   * Takes note of where a claim has devices now.
   *
   * @param uid the claim's
   * @param now its node; empty if it has no devices, or is gone
   * @return the nodes where something was taken or given back
   */
  Set<String> changed(String uid, Optional<String> now) {
    @Nullable String before = now.isPresent() ? nodes.put(uid, now.get()) : nodes.remove(uid);
    Set<String> changed = new HashSet<>();
    if (!now.equals(Optional.ofNullable(before))) {
      now.ifPresent(changed::add);
      Optional.ofNullable(before).ifPresent(changed::add);
    }
    return changed;
  }
}
