package dev.partita.controller.loop;

import dev.partita.controller.gang.GangKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps which gang each pod is of, as changes of pods have told one after the other: what is watched may show by then
 * pods that were made anew. For one thread.
 */
final class GangsOfPods {
  private final Map<String, GangKey> byPod = new HashMap<>();
  private final Map<GangKey, Integer> sizes = new HashMap<>();

  /**
   * The pod of that UID is of this gang now, or of none.
   *
   * @return the gang that it has left
   */
  Optional<GangKey> put(String uid, Optional<GangKey> gang) {
    Optional<GangKey> before = Optional.ofNullable(gang.isPresent() ? byPod.put(uid, gang.get()) : byPod.remove(uid));
    gang.ifPresent(its -> sizes.merge(its, 1, Integer::sum));
    before.ifPresent(its -> sizes.computeIfPresent(its, (_, size) -> size == 1 ? null : size - 1));
    return before.filter(its -> !gang.equals(Optional.of(its)));
  }

  /** Whether no pod is of the gang. */
  boolean isEmpty(GangKey gang) {
    return !sizes.containsKey(gang);
  }
}
