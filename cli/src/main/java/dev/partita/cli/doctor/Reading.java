package dev.partita.cli.doctor;

import java.util.List;
import java.util.function.Function;

/** Something that was asked of the API server. */
sealed interface Reading<T> {
  /** It answered. */
  record Known<T>(T value) implements Reading<T> {}

  /** There is no such object, or no such kind. */
  record Missing<T>(String why) implements Reading<T> {}

  /** The user may not know, or the server did not say. */
  record Unknown<T>(String why) implements Reading<T> {}

  /** What a check says of what is known; what is missing fails it, and what nobody may see is told. */
  default List<Finding> judged(String check, String mendIfMissing, Function<T, List<Finding>> judge) {
    return switch (this) {
      case Known<T>(T value) -> judge.apply(value);
      case Missing<T>(String why) -> List.of(Finding.fail(check, "", why, mendIfMissing));
      case Unknown<T>(String why) -> List.of(
          Finding.warn(check, "", "could not be looked at: " + why, "run this with the right to see it"));
    };
  }
}
