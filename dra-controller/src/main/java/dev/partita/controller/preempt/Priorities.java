package dev.partita.controller.preempt;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the priorities of the pods with claims, so that no search begins where there cannot be victims. For one thread.
 */
public final class Priorities {
  private final Map<String, Integer> byPod = new HashMap<>();
  private final TreeMap<Integer, Integer> counts = new TreeMap<>();

  public void put(String podUid, int priority) {
    remove(podUid);
    byPod.put(podUid, priority);
    counts.merge(priority, 1, Integer::sum);
  }

  public void remove(String podUid) {
    @Nullable Integer priority = byPod.remove(podUid);
    if (priority != null) {
      counts.computeIfPresent(priority, (key, count) -> count == 1 ? null : count - 1);
    }
  }

  /** Whether there is a pod of a lower priority than this. */
  public boolean isAnyBelow(int priority) {
    return !counts.isEmpty() && counts.firstKey() < priority;
  }
}
