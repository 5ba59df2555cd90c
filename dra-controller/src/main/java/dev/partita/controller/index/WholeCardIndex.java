package dev.partita.controller.index;

import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * Keeps the hosts of one shape by which of their cards are untouched, to find where whole cards fit best. Compared by
 * identity: there is one for each shape.
 */
public final class WholeCardIndex {
  private final Map<BitSet, NavigableSet<IndexEntry>> byUntouched = new HashMap<>();

  /** For every set of untouched cards (positions) that occurs, its hosts in order of what is free on them. */
  Map<BitSet, NavigableSet<IndexEntry>> byUntouched() {
    return Collections.unmodifiableMap(byUntouched);
  }

  void add(BitSet untouched, IndexEntry entry) {
    byUntouched.computeIfAbsent(untouched, cards -> new TreeSet<>()).add(entry);
  }

  void remove(BitSet untouched, IndexEntry entry) {
    byUntouched.computeIfPresent(untouched, (cards, entries) -> CardClass.without(entries, entry));
  }
}
