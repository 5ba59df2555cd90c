package dev.partita.controller.inventory;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * An unchangeable map of names, in order of the names, in two arrays. Maps with the same names can share the array of
 * names: the attributes of a device then take 80 bytes, where a tree of entries takes 700.
 */
final class SortedArrayMap<V> extends AbstractMap<String, V> {
  private final String[] names;
  private final Object[] values;

  private SortedArrayMap(String[] names, Object[] values) {
    this.names = names;
    this.values = values;
  }

  /**
   * The same map as an array.
   *
   * @param map in the natural order of its names
   * @param shared gives the one array that stands for all equal ones
   */
  static <V> SortedArrayMap<V> of(SortedMap<String, V> map, SharedValues shared) {
    return new SortedArrayMap<>(shared.names(map.keySet().toArray(String[]::new)), map.values().toArray());
  }

  @Override
  public int size() {
    return names.length;
  }

  @Override
  public boolean containsKey(@Nullable Object name) {
    return indexOf(name) >= 0;
  }

  @Override
  public @Nullable V get(@Nullable Object name) {
    int index = indexOf(name);
    return index < 0 ? null : value(index);
  }

  private int indexOf(@Nullable Object name) {
    return name instanceof String text ? Arrays.binarySearch(names, text) : -1;
  }

  @SuppressWarnings("unchecked")
  private V value(int index) {
    return (V) values[index];
  }

  @Override
  public Set<Map.Entry<String, V>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public int size() {
        return names.length;
      }

      @Override
      public Iterator<Map.Entry<String, V>> iterator() {
        return new Iterator<>() {
          private int next;

          @Override
          public boolean hasNext() {
            return next < names.length;
          }

          @Override
          public Map.Entry<String, V> next() {
            if (next == names.length) {
              throw new NoSuchElementException();
            }
            int index = next++;
            return Map.entry(names[index], value(index));
          }
        };
      }
    };
  }
}
