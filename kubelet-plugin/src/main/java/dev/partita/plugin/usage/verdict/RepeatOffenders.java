package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Processes that are blamed, with how long they have been. A share can be beyond its limit for long while the processes
 * that are to blame come and go; each of them is to have been seen as often as the state of the share itself.
 */
final class RepeatOffenders {
  private final Map<ShareRef, Map<ProcessIdentity, Integer>> readings = new HashMap<>();

  /** Takes a reading of a share in; those of the processes that have been blamed in each of the last readings. */
  List<ProcessUse> take(ShareRef share, List<ProcessUse> blamed) {
    Map<ProcessIdentity, Integer> before = readings.getOrDefault(share, Map.of());
    Map<ProcessIdentity, Integer> now = new HashMap<>();
    blamed.forEach(process -> now.put(process.identity(), before.getOrDefault(process.identity(), 0) + 1));
    readings.put(share, now);
    return blamed.stream().filter(process -> now.getOrDefault(process.identity(), 0) >= StableVerdict.READINGS)
        .toList();
  }

  /** Forgets all other shares. */
  void retain(Collection<ShareRef> shares) {
    readings.keySet().retainAll(shares);
  }
}
