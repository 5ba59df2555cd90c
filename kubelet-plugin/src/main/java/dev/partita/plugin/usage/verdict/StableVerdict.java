package dev.partita.plugin.usage.verdict;

/** A share's memory state once it has lasted for some readings on end: nobody is blamed for one reading. */
public final class StableVerdict {
  /** Readings that a state must last. */
  public static final int READINGS = 3;

  private MemoryState shown = new MemoryState.Held();
  private MemoryState next = shown;
  private int seen;

  /** Takes a reading in; the state that has lasted. */
  public MemoryState take(MemoryState now) {
    seen = now.getClass() == next.getClass() ? seen + 1 : 1;
    next = now;
    if (seen >= READINGS || now.getClass() == shown.getClass()) {
      shown = now;
    }
    return shown;
  }
}
