package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.ShareRef;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** When something begins that may last, seen again and again: it is worth a line when it begins, not at every look. */
public final class Debounce {
  /** What was so within that time is the same still, even if it was not so at a look in between. */
  private static final Duration PAUSE = Duration.ofMinutes(1);

  private final Map<ShareRef, Instant> lastSeen = new HashMap<>();

  /** Takes in that it is so for a share now; whether it begins with that. */
  public boolean begins(ShareRef share, Instant now) {
    Instant last = lastSeen.put(share, now);
    return last == null || Duration.between(last, now).compareTo(PAUSE) > 0;
  }

  /** Forgets all other shares. */
  public void retain(Collection<ShareRef> shares) {
    lastSeen.keySet().retainAll(shares);
  }
}
