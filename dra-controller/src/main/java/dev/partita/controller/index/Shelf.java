package dev.partita.controller.index;

import dev.partita.controller.inventory.Device;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The cards of one kind of which a share may be taken, on all hosts. Compared by identity: there is one a kind. */
public final class Shelf implements Alike {
  private final List<Device> example;
  private final NavigableMap<Integer, NavigableSet<Place>> begun = new TreeMap<>();
  private final NavigableMap<Integer, NavigableSet<Place>> untouched = new TreeMap<>();

  /** @param example the devices of one card of the kind, whichever */
  Shelf(List<Device> example) {
    this.example = List.copyOf(example);
  }

  @Override
  public List<Device> example() {
    return example;
  }

  /** The cards by free cores (percent), each in order of free memory. */
  NavigableMap<Integer, NavigableSet<Place>> places(boolean untouchedCards) {
    return untouchedCards ? untouched : begun;
  }

  void add(boolean untouchedCard, int cores, Place place) {
    places(untouchedCard).computeIfAbsent(cores, c -> new TreeSet<>()).add(place);
  }

  void remove(boolean untouchedCard, int cores, Place place) {
    places(untouchedCard).computeIfPresent(cores, (c, places) -> without(places, place));
  }

  static @Nullable NavigableSet<Place> without(NavigableSet<Place> places, Place place) {
    places.remove(place);
    return places.isEmpty() ? null : places;
  }
}
