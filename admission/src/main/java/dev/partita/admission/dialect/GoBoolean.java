package dev.partita.admission.dialect;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The words that Go's {@code strconv.ParseBool} takes for true and for false, since systems written in Go take them.
 */
final class GoBoolean {
  private GoBoolean() {}

  /** What each of the words means. */
  static <T> Map<String, T> meanings(T ofTrue, T ofFalse) {
    Map<String, T> meanings = new TreeMap<>();
    Stream.of("1", "t", "T", "true", "True", "TRUE").forEach(word -> meanings.put(word, ofTrue));
    Stream.of("0", "f", "F", "false", "False", "FALSE").forEach(word -> meanings.put(word, ofFalse));
    return meanings;
  }
}
