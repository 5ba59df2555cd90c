package dev.partita.controller.index;

import dev.partita.controller.place.PlacementScore;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A host's key in an ordered index. The order is by what is free of the cards in question, then by what is free on the
 * host, then by name.
 *
 * @param memory bytes free of the card; 0 where whole cards are in question
 * @param free what is free on the host, in parts as {@link PlacementScore} counts them
 * @param hostState the host; null in what is only compared with
 */
record IndexEntry(long memory, long free, String node, @Nullable HostState hostState)
    implements Comparable<IndexEntry> {
  static IndexEntry of(long memory, HostState hostState) {
    return new IndexEntry(memory, hostState.free(), hostState.host().name(), hostState);
  }

  /** Before every place of which at least that much memory is free. */
  static IndexEntry from(long memory) {
    return new IndexEntry(memory, Long.MIN_VALUE, "", null);
  }

  HostState host() {
    return Objects.requireNonNull(hostState);
  }

  @Override
  public int compareTo(IndexEntry other) {
    if (memory != other.memory) {
      return Long.compare(memory, other.memory);
    }
    return free != other.free ? Long.compare(free, other.free) : node.compareTo(other.node);
  }
}
