package dev.partita.controller.index;

import dev.partita.controller.inventory.Device;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Keeps all cards of one kind, on all hosts, in the order in which a share would take them. Compared by identity: there
 * is one for each kind of card.
 */
public final class CardClass implements CardGroup {
  private final List<Device> example;
  private final NavigableMap<Integer, NavigableSet<IndexEntry>> begun = new TreeMap<>();
  private final NavigableMap<Integer, NavigableSet<IndexEntry>> untouched = new TreeMap<>();

  /** @param example the devices of one card of the kind, whichever */
  CardClass(List<Device> example) {
    this.example = List.copyOf(example);
  }

  @Override
  public List<Device> example() {
    return example;
  }

  /** The cards by free cores (percent), and for each number of these in order of free memory. */
  NavigableMap<Integer, NavigableSet<IndexEntry>> entries(boolean untouchedCards) {
    return untouchedCards ? untouched : begun;
  }

  void add(boolean untouchedCard, int cores, IndexEntry entry) {
    entries(untouchedCard).computeIfAbsent(cores, c -> new TreeSet<>()).add(entry);
  }

  void remove(boolean untouchedCard, int cores, IndexEntry entry) {
    entries(untouchedCard).computeIfPresent(cores, (c, entries) -> without(entries, entry));
  }

  static @Nullable NavigableSet<IndexEntry> without(NavigableSet<IndexEntry> entries, IndexEntry entry) {
    entries.remove(entry);
    return entries.isEmpty() ? null : entries;
  }
}
