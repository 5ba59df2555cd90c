package dev.partita.cli.top;

import java.util.Set;

/**
 * Of which nodes something is shown.
 *
 * @param names those that are; all if there are none
 */
record NodeFilter(Set<String> names) {
  NodeFilter {
    names = Set.copyOf(names);
  }

  /** Whether that node's are shown. */
  boolean admits(String node) {
    return names.isEmpty() || names.contains(node);
  }
}
