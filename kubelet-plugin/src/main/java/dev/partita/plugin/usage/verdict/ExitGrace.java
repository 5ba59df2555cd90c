package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.ProcessIdentity;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Excuses processes that are ending: what the driver still has of them is theirs no more, so nobody is blamed for it.
 * Each one is excused once, and only for a while, since a program whose threads end all the time could look like one
 * that is ending.
 */
public final class ExitGrace {
  /** More than a driver takes to free what a process had. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private Map<ProcessIdentity, Instant> before = Map.of();
  private Map<ProcessIdentity, Instant> now = new HashMap<>();

  /** Begins a look. A process that is not asked about in it is forgotten with the next. */
  public void beginLook() {
    before = now;
    now = new HashMap<>();
  }

  /**
   * Whether to pass over a process.
   *
   * @param ending whether it seems to be on its way out
   */
  public boolean excuse(ProcessIdentity process, boolean ending, Instant at) {
    Instant since = before.get(process);
    if (since == null && !ending) {
      return false;
    }
    now.put(process, since == null ? at : since);
    return ending && (since == null || Duration.between(since, at).compareTo(PATIENCE) < 0);
  }
}
