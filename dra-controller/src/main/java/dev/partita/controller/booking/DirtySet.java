package dev.partita.controller.booking;

import java.util.HashSet;
import java.util.Set;

/** Collects the names of what has changed, until they are taken. For one thread. */
final class DirtySet {
  private Set<String> names = new HashSet<>();

  void add(String name) {
    names.add(name);
  }

  /** Gives them away. */
  Set<String> take() {
    if (names.isEmpty()) {
      return Set.of();
    }
    Set<String> taken = names;
    names = new HashSet<>(); // going through the one that once held all nodes would take as long ever after
    return taken;
  }
}
