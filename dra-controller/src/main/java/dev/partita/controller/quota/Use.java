package dev.partita.controller.quota;

import dev.partita.api.Bytes;
import dev.partita.api.quota.Amounts;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What claims have of cards, or may have.
 *
 * @param memory bytes
 * @param cores percent of a card's
 * @param cards devices, whole or shared
 * @param claims ResourceClaims
 */
record Use(long memory, long cores, long cards, long claims) {
  static final Use NONE = new Use(0, 0, 0, 0);

  /** An amount that no card comes near to, and that leaves room for sums: anybody may ask for more. */
  static final long BEYOND = Long.MAX_VALUE / 4;

  /** The sum, of each at most {@link #BEYOND}. */
  Use plus(Use other) {
    return new Use(plus(memory, other.memory), plus(cores, other.cores), plus(cards, other.cards),
        plus(claims, other.claims));
  }

  private static long plus(long amount, long more) {
    return Math.min(BEYOND, amount + more);
  }

  Use minus(Use other) {
    return new Use(memory - other.memory, cores - other.cores, cards - other.cards, claims - other.claims);
  }

  /** So many times as much, of each at most {@link #BEYOND}. */
  Use times(long count) {
    return new Use(times(memory, count), times(cores, count), times(cards, count), times(claims, count));
  }

  private static long times(long amount, long count) {
    return count > 0 && amount > BEYOND / count ? BEYOND : amount * count;
  }

  Use min(Use other) {
    return new Use(
        Math.min(memory, other.memory), Math.min(cores, other.cores), Math.min(cards, other.cards),
        Math.min(claims, other.claims));
  }

  /**
   * Why this much more is too much, for people; empty if it is not.
   *
   * @param most what may be had, without limit where it is {@link Long#MAX_VALUE}
   * @param used what is had already
   */
  Optional<String> refusal(Use most, Use used) {
    if (memory > 0 && memory > most.memory - used.memory) {
      return Optional.of(
          Bytes.words(used.memory) + " of " + Bytes.words(most.memory) + " memory, " + Bytes.words(memory) + " asked");
    }
    if (cores > 0 && cores > most.cores - used.cores) {
      return Optional.of(used.cores + " of " + most.cores + " % cores, " + cores + " % asked");
    }
    if (cards > 0 && cards > most.cards - used.cards) {
      return Optional.of(used.cards + " of " + most.cards + " cards, " + cards + " asked");
    }
    return claims > 0 && claims > most.claims - used.claims
        ? Optional.of(used.claims + " of " + most.claims + " claims")
        : Optional.empty();
  }

  /** Whether there is anything of which the first is more than the second. */
  static boolean isMore(Use first, Use second) {
    return first.memory > second.memory || first.cores > second.cores || first.cards > second.cards
        || first.claims > second.claims;
  }

  /**
   * A part of what may be had.
   *
   * @param share from 0; above 1 where more is had than may be
   */
  record Part(double share, String words) {}

  /** The part that is largest of what is limited; empty if nothing is. */
  Optional<Part> fullest(Use most) {
    return Stream.of(
        part(memory, most.memory, Bytes.words(memory) + " of " + Bytes.words(most.memory) + " memory"),
        part(cores, most.cores, cores + " of " + most.cores + " % cores"),
        part(cards, most.cards, cards + " of " + most.cards + " cards"),
        part(claims, most.claims, claims + " of " + most.claims + " claims"))
        .flatMap(Optional::stream)
        .max(Comparator.comparingDouble(Part::share));
  }

  private static Optional<Part> part(long used, long most, String words) {
    return most == Long.MAX_VALUE
        ? Optional.empty()
        : Optional.of(new Part(most == 0 ? (used == 0 ? 0 : 2) : (double) used / most, words));
  }

  Amounts amounts() {
    return new Amounts(Bytes.quantity(memory), cores, cards, claims);
  }
}
