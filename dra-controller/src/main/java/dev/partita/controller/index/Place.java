package dev.partita.controller.index;

import dev.partita.controller.place.PlacementScore;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a host stands in an order: first by what is free of the cards in question, then by what is free on the host, then by name.
 *
 * @param memory bytes free of the card; 0 where whole cards are in question
 * @param free what is free on the host, in parts as {@link PlacementScore} counts them
 * @param standing the host; null in what is only compared with
 */
record Place(long memory, long free, String node, @Nullable Standing standing) implements Comparable<Place> {
  static Place of(long memory, Standing standing) {
    return new Place(memory, standing.free(), standing.host().name(), standing);
  }

  /** Before every place of which at least that much memory is free. */
  static Place from(long memory) {
    return new Place(memory, Long.MIN_VALUE, "", null);
  }

  Standing host() {
    return Objects.requireNonNull(standing);
  }

  @Override
  public int compareTo(Place other) {
    if (memory != other.memory) {
      return Long.compare(memory, other.memory);
    }
    return free != other.free ? Long.compare(free, other.free) : node.compareTo(other.node);
  }
}
