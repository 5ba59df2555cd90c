package dev.partita.controller.inventory;

import dev.partita.controller.lru.LruMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Gives one object for all equal values: thousands of cards have the same model, driver and capacities. It remembers a
 * fixed number of values, those that were asked for last. Forgotten values are merely not shared.
 */
final class SharedValues {
  private static final int MOST = 4096;

  private final Map<Object, Object> known = new LruMap<>(MOST);

  private record Derived(Object from) {}

  /** The value itself, or an equal one that was here before. */
  @SuppressWarnings("unchecked")
  synchronized <T> T one(T value) {
    Object before = known.putIfAbsent(value, value);
    return before == null ? value : (T) before;
  }

  /** The value for the key: it is made now, or was made before for an equal key. */
  @SuppressWarnings("unchecked")
  synchronized <K, T> T derived(K key, Function<K, T> make) {
    return (T) known.computeIfAbsent(new Derived(key), of -> make.apply(key));
  }

  /** Likewise of an array, which nobody may change. */
  String[] names(String[] names) {
    return derived(List.of(names), same -> names);
  }
}
