package dev.partita.plugin.usage;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Tells when something begins that is seen again and again for as long as it lasts. Only its beginning is worth a line
 * in the log.
 */
final class Debounce {
  /** What was so within that time still counts as the same, even if it was not so at a look in between. */
  private static final Duration PAUSE = Duration.ofMinutes(1);

  private @Nullable Instant lastSeen;

  /** Takes in that it is so now; whether it begins with that. */
  boolean begins(Instant now) {
    Instant last = lastSeen;
    lastSeen = now;
    return last == null || Duration.between(last, now).compareTo(PAUSE) > 0;
  }
}
