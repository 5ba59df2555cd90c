package dev.partita.admission.webhook;

import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;

/** Words for who makes a pod, in the form in which the API server passes them on. */
final class Warnings {
  /**
   * Characters of one warning: the API server cuts longer ones when there are many (apiserver,
   * endpoints/filters/warning.go).
   */
  static final int MOST_EACH = 256;

  /** Characters of all warnings of a request: the API server drops what is beyond. */
  static final int MOST_TOGETHER = 4096;

  /** Warnings of a request that the webhook's server passes on (ReviewCodec of the controller). */
  static final int MOST = 16;

  private static final int ROOM_FOR_THE_LAST = 32;

  private Warnings() {}

  /** One warning for each, as many as there is room for, and one that says how many more there are. */
  static List<String> of(String prefix, List<FieldError> errors) {
    List<String> warnings = new ArrayList<>();
    int room = MOST_TOGETHER;
    for (FieldError error : errors) {
      String warning = cut(plain(prefix + error));
      int length = warning.codePointCount(0, warning.length());
      boolean last = warnings.size() == errors.size() - 1;
      if (length > (last ? room : room - ROOM_FOR_THE_LAST) || (!last && warnings.size() == MOST - 1)) {
        warnings.add("and " + (errors.size() - warnings.size()) + " more");
        break;
      }
      warnings.add(warning);
      room -= length;
    }
    return warnings;
  }

  /** A warning with control characters would not be passed on at all (apimachinery, net.NewWarningHeader). */
  private static String plain(String text) {
    StringBuilder plain = new StringBuilder();
    text.codePoints()
        .forEach(point -> plain.appendCodePoint(
            Character.isISOControl(point) || Character.getType(point) == Character.SURROGATE ? '\uFFFD' : point));
    return plain.toString();
  }

  private static String cut(String text) {
    return text.codePointCount(0, text.length()) <= MOST_EACH
        ? text
        : text.substring(0, text.offsetByCodePoints(0, MOST_EACH - 1)) + "…";
  }
}
