package dev.partita.api.config;

import java.util.List;
import java.util.stream.Collectors;

/** Outcome of decoding a document that a user wrote. */
public sealed interface Decoded<T> {
  /** The document is right. */
  record Valid<T>(T value) implements Decoded<T> {}

  /** The document is wrong in every one of these places; never empty. */
  record Invalid<T>(List<FieldError> errors) implements Decoded<T> {
    public Invalid {
      errors = List.copyOf(errors);
      if (errors.isEmpty()) {
        throw new IllegalArgumentException("an invalid document has at least one error");
      }
    }

    /** All errors in one line. */
    public String message() {
      return errors.stream().map(FieldError::toString).collect(Collectors.joining("; "));
    }
  }
}
