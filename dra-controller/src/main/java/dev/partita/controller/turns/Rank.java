package dev.partita.controller.turns;

import java.util.Comparator;

/**
 * The place of a pod in the order of decisions: by higher priority, then by age, then by name.
 *
 * @param created when it was made, in RFC 3339
 */
public record Rank(int priority, String created, String name) implements Comparable<Rank> {
  private static final Comparator<Rank> ORDER =
      Comparator.comparing(Rank::priority, Comparator.reverseOrder()).thenComparing(Rank::created)
          .thenComparing(Rank::name);

  @Override
  public int compareTo(Rank other) {
    return ORDER.compare(this, other);
  }
}
