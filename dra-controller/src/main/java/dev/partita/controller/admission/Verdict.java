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
    private static final int MAX_SAID = 20;
    private static final int MAX_ERROR = 400;

    public Invalid {
      errors = List.copyOf(errors);
      warnings = List.copyOf(warnings);
    }

    /** The first errors in one line, and how many more there are: at most 8 KiB of text, whoever made the object. */
    String message() {
      String first = errors.stream().limit(MAX_SAID).map(error -> ReviewCodec.cut(error.toString(), MAX_ERROR))
          .collect(Collectors.joining("; "));
      return errors.size() > MAX_SAID ? first + "; and " + (errors.size() - MAX_SAID) + " more" : first;
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
