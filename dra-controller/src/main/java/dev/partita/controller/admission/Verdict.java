package dev.partita.controller.admission;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.stream.Collectors;

/** The answer to an {@link AdmissionRequest}. */
public sealed interface Verdict {
  /** For the person who made the request; shown whatever becomes of it. */
  List<String> warnings();

  /** It goes on as it is. */
  record Allowed(List<String> warnings) implements Verdict {
    public Allowed {
      warnings = List.copyOf(warnings);
    }
  }

  /**
   * It goes on, changed.
   *
   * @param patch JSON Patch (RFC 6902)
   */
  record Changed(JsonNode patch, List<String> warnings) implements Verdict {
    public Changed {
      warnings = List.copyOf(warnings);
    }
  }

  /**
   * The object is wrong in all of these places.
   *
   * @param errors never empty
   */
  record Invalid(List<FieldError> errors, List<String> warnings) implements Verdict {
    public Invalid {
      errors = List.copyOf(errors);
      warnings = List.copyOf(warnings);
    }

    /** All errors in one line. */
    String message() {
      return errors.stream().map(FieldError::toString).collect(Collectors.joining("; "));
    }
  }

  /** The object is in order, and still may not be had. */
  record Forbidden(String why, List<String> warnings) implements Verdict {
    public Forbidden {
      warnings = List.copyOf(warnings);
    }
  }

  static Verdict allowed() {
    return new Allowed(List.of());
  }
}
