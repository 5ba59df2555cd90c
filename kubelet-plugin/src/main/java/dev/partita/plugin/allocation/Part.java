package dev.partita.plugin.allocation;

/**
 * What was read of a part of an allocation.
 *
 * @param <T> what it is, where it can be prepared
 */
sealed interface Part<T> {
  /** It can be prepared. */
  record Granted<T>(T value) implements Part<T> {}

  /** It cannot: what is wrong, for the claim's owner. */
  record Refused<T>(String why) implements Part<T> {}
}
