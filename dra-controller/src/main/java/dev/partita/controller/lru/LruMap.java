package dev.partita.controller.lru;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that holds a fixed number of entries, those that were read or written last: what is kept of pods, claims or
 * requests must not grow with all that ever existed. For one thread, reading included.
 */
public final class LruMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1;

  private final int most;

  /** @param most how many entries it holds */
  public LruMap(int most) {
    super(16, 0.75f, true);
    this.most = most;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > most;
  }
}
