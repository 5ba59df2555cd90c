package dev.partita.cli.doctor;

import java.util.List;
import java.util.function.Function;

/** Something that was asked of the API server. */
sealed interface Reading<T> {
  /** It answered. */
  record Known<T>(T value) implements Reading<T> {}

  /** There is no such object, or no such kind. */
  record Missing<T>(String why) implements Reading<T> {}

  /** The user has no right to read it. */
  record Forbidden<T>(String why) implements Reading<T> {}

  /** The server did not say: another time it may. */
  record Failed<T>(String why) implements Reading<T> {}

  /** What follows from what is known. */
  default <U> Reading<U> map(Function<T, U> then) {
    return switch (this) {
      case Known<T>(T value) -> new Known<>(then.apply(value));
      case Missing<T>(String why) -> new Missing<>(why);
      case Forbidden<T>(String why) -> new Forbidden<>(why);
      case Failed<T>(String why) -> new Failed<>(why);
    };
  }

  /** What a check says of what is known; what is missing fails it, and what could not be looked at is told. */
  default List<Finding> judged(String check, String mendIfMissing, Function<T, List<Finding>> judge) {
    return judged(check, mendIfMissing, Verdict.WARN, judge);
  }

  /** The same of what nothing can be said of nodes without: that it could not be looked at fails the check, too. */
  default List<Finding> needed(String check, String mendIfMissing) {
    return judged(check, mendIfMissing, Verdict.FAIL, _ -> List.of());
  }

  private List<Finding> judged(
      String check,
      String mendIfMissing,
      Verdict ifUnseen,
      Function<T, List<Finding>> judge) {
    return switch (this) {
      case Known<T>(T value) -> judge.apply(value);
      case Missing<T>(String why) -> List.of(Finding.fail(check, "", why, mendIfMissing));
      case Forbidden<T>(String why) -> List.of(unseen(ifUnseen, check, why, "run this with the right to see it"));
      case Failed<T>(String why) -> List.of(
          unseen(ifUnseen, check, why, "try again, and look at the API server if it stays so"));
    };
  }

  private static Finding unseen(Verdict verdict, String check, String why, String mend) {
    return new Finding(verdict, check, "", "could not be looked at: " + why, mend);
  }
}
