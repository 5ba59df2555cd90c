package dev.partita.controller.selector;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says which attributes of a device an expression can read. It understands only the plain form {@code
 * device.attributes["domain"].name}; an expression that uses {@code device} in another way may read any.
 */
sealed interface AttributesRead {
  /** These and no other, by name without domain. */
  record Named(Set<String> names) implements AttributesRead {
    public Named {
      names = Set.copyOf(names);
    }
  }

  record Anything() implements AttributesRead {}

  /** Whether one of the attributes may be among those that it sees. */
  default boolean mayBeOneOf(Set<String> attributes) {
    return switch (this) {
      case Named(Set<String> names) -> !Collections.disjoint(names, attributes);
      case Anything _ -> true;
    };
  }

  static AttributesRead by(String expression) {
    Set<String> names = new HashSet<>();
    StringBuilder rest = new StringBuilder();
    Matcher plain = PlainForm.ATTRIBUTE.matcher(expression);
    while (plain.find()) {
      names.add(plain.group(1));
      plain.appendReplacement(rest, " ");
    }
    plain.appendTail(rest);
    String others = PlainForm.NO_ATTRIBUTE.matcher(rest).replaceAll(" ");
    return others.contains("device") ? new Anything() : new Named(names);
  }

  /** What is understood, as patterns. */
  final class PlainForm {
    private static final String DOMAIN = "\\[(?:\"[^\"\\\\]*\"|'[^'\\\\]*')\\]";
    private static final String NO_CALL = "(?!\\s*\\()";
    static final Pattern ATTRIBUTE =
        Pattern.compile("\\bdevice\\.attributes" + DOMAIN + "\\.([A-Za-z_]\\w*+)" + NO_CALL);
    static final Pattern NO_ATTRIBUTE =
        Pattern.compile("\\bdevice\\.(?:capacity" + DOMAIN + "\\.[A-Za-z_]\\w*+" + NO_CALL
            + "|driver\\b|allowMultipleAllocations\\b)");

    private PlainForm() {}
  }
}
