package dev.partita.controller.index;

import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/** The hosts of one shape, by which of their cards are untouched. Compared by identity: there is one a shape. */
public final class Rack {
  private final Map<BitSet, NavigableSet<Place>> byUntouched = new HashMap<>();

  /** For every set of untouched cards (positions) that occurs, its hosts in order of what is free on them. */
  Map<BitSet, NavigableSet<Place>> byUntouched() {
    return Collections.unmodifiableMap(byUntouched);
  }

  void add(BitSet untouched, Place place) {
    byUntouched.computeIfAbsent(untouched, cards -> new TreeSet<>()).add(place);
  }

  void remove(BitSet untouched, Place place) {
    byUntouched.computeIfPresent(untouched, (cards, places) -> Shelf.without(places, place));
  }
}
