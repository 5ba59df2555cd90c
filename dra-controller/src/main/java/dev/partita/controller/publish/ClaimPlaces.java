package dev.partita.controller.publish;

import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps where claims have devices, for the view does not say what a claim has left. For any thread.
 *
 * @param <T> what says where: a node, a device
 */
final class ClaimPlaces<T> {
  private final Map<String, Set<T>> places = new ConcurrentHashMap<>();

  /**
   * Takes note of where a claim has devices now.
   *
   * @param uid the claim's
   * @param now where; empty if it has no devices, or is gone
   * @return where something was taken or given back
   */
  Set<T> changed(String uid, Set<T> now) {
    @Nullable Set<T> had = now.isEmpty() ? places.remove(uid) : places.put(uid, now);
    Set<T> before = Objects.requireNonNullElse(had, Set.of());
    Set<T> changed = new HashSet<>(now);
    changed.removeAll(before);
    before.stream().filter(place -> !now.contains(place)).forEach(changed::add);
    return changed;
  }
}
