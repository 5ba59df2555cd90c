package dev.partita.plugin.usage.verdict;

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
  private record Started(long pid, long start) {}

  private final Map<ShareRef, Map<Started, Integer>> readings = new HashMap<>();

  /** Takes a reading of a share in; those of the processes that have been blamed in each of the last readings. */
  List<ProcessUse> take(ShareRef share, List<ProcessUse> blamed) {
    Map<Started, Integer> before = readings.getOrDefault(share, Map.of());
    Map<Started, Integer> now = new HashMap<>();
    blamed.forEach(process -> now.put(started(process), before.getOrDefault(started(process), 0) + 1));
    readings.put(share, now);
    return blamed.stream().filter(process -> now.getOrDefault(started(process), 0) >= StableVerdict.READINGS).toList();
  }

  /** Forgets all other shares. */
  void retain(Collection<ShareRef> shares) {
    readings.keySet().retainAll(shares);
  }

  private static Started started(ProcessUse process) {
    return new Started(process.pid(), process.start());
  }
}
