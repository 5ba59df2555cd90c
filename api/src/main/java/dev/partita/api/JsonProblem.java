package dev.partita.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.Objects;
import java.util.regex.Pattern;

/** Says why a text is not the JSON that it should be, without what the parser adds about its own settings. */
public final class JsonProblem {
  /** Stands behind what is wrong, for example {@code (start marker at [Source: REDACTED (`…` disabled); line: 1])}. */
  private static final Pattern SOURCE = Pattern.compile(" *\\([^()]*\\[Source: .*]\\)");

  private JsonProblem() {}

  /** One line, such as {@code Unexpected end-of-input: expected close marker for Object}. */
  public static String words(JsonProcessingException problem) {
    String first = Objects.requireNonNullElse(problem.getOriginalMessage(), "").lines().findFirst().orElse("");
    return SOURCE.matcher(first).replaceAll("");
  }
}
