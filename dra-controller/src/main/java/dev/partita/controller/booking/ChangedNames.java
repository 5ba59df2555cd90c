package dev.partita.controller.booking;

import java.util.HashSet;
import java.util.Set;

/** Names of what has changed since this was last asked. For one thread. */
final class ChangedNames {
  private Set<String> names = new HashSet<>();

  void add(String name) {
    names.add(name);
  }

  void addAll(Set<String> more) {
    names.addAll(more);
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
