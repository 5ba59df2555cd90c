package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.ShareRef;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** A share's memory state as it has been for some readings on end: nobody is blamed for one reading. */
public final class StableVerdict {
  /** Readings that a state must last. */
  static final int READINGS = 3;

  private static final class Entry {
    private MemoryState shown = new MemoryState.Held();
    private MemoryState next = shown;
    private int seen;
  }

  private final Map<ShareRef, Entry> entries = new HashMap<>();

  /** Takes a reading in; the state that has lasted. */
  public MemoryState take(ShareRef share, MemoryState now) {
    Entry entry = entries.computeIfAbsent(share, s -> new Entry());
    entry.seen = now.getClass() == entry.next.getClass() ? entry.seen + 1 : 1;
    entry.next = now;
    if (entry.seen >= READINGS || now.getClass() == entry.shown.getClass()) {
      entry.shown = now;
    }
    return entry.shown;
  }

  /** Forgets all other shares. */
  public void retain(Collection<ShareRef> shares) {
    entries.keySet().retainAll(shares);
  }
}
