package dev.partita.controller.publish;

import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

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
   * @param now says where; nothing if it has no devices, or is gone. It is asked while no other thread takes note of
   *        the claim: otherwise the older of two states could be noted last
   * @return where something was taken or given back
   */
  Set<T> changed(String uid, Supplier<Set<T>> now) {
    Set<T> changed = new HashSet<>();
    places.compute(uid, (_, had) -> {
      Set<T> before = Objects.requireNonNullElse(had, Set.of());
      Set<T> here = now.get();
      changed.addAll(here);
      changed.removeAll(before);
      before.stream().filter(place -> !here.contains(place)).forEach(changed::add);
      return here.isEmpty() ? null : here;
    });
    return changed;
  }
}
