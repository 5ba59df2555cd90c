package dev.partita.plugin.usage.excess;

import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.StableVerdict;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts for how many readings on end each process of a share has been blamed. A share can be beyond its limit for long
 * while the processes that are to blame come and go. Each of them must have been seen as often as the state of the
 * share itself.
 */
final class RepeatOffenders {
  private Map<ProcessIdentity, Integer> readings = Map.of();

  /** Takes a reading in; those of the processes that have been blamed in each of the last readings. */
  List<ProcessUse> take(List<ProcessUse> blamed) {
    Map<ProcessIdentity, Integer> now = new HashMap<>();
    blamed.forEach(process -> now.put(process.identity(), readings.getOrDefault(process.identity(), 0) + 1));
    readings = now;
    return blamed.stream().filter(process -> now.getOrDefault(process.identity(), 0) >= StableVerdict.READINGS)
        .toList();
  }
}
