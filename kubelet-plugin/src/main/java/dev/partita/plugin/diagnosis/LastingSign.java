package dev.partita.plugin.diagnosis;

import java.time.Duration;

/** Something that comes and goes, and counts only once it has been so for a minute; likewise that it is over. */
final class LastingSign {
  static final Duration LASTS = Duration.ofMinutes(1);

  private boolean counts;
  private boolean changing;
  private long since; // when it began to be otherwise than it counts

  /**
   * Takes in how it is now.
   *
   * @param nanos by a clock that cannot be set
   * @return whether it counts
   */
  boolean update(boolean now, long nanos) {
    if (now == counts) {
      changing = false;
    } else if (!changing) {
      changing = true;
      since = nanos;
    } else if (nanos - since >= LASTS.toNanos()) {
      counts = now;
      changing = false;
    }
    return counts;
  }
}
