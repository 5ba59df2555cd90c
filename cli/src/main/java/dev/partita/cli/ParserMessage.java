package dev.partita.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What picocli says of a command line that it cannot read, in words for people who do not program. */
final class ParserMessage {
  private static final Pattern ONE_OF =
      Pattern.compile("expected one of \\[([^]]*)] \\(case-(?:in)?sensitive\\) but was ('.*')", Pattern.DOTALL);

  private ParserMessage() {}

  static String plain(String message) {
    String plain = message.replace("option option", "option").replace(" is not an int", " is not a whole number");
    Matcher oneOf = ONE_OF.matcher(plain);
    return oneOf.find()
        ? plain.substring(0, oneOf.start()) + oneOf.group(2) + " is none of "
            + String.join(", ", words(oneOf.group(1)))
        : plain;
  }

  /** Of each value picocli shows its name in Java and, behind that, the word that is typed. */
  private static List<String> words(String values) {
    List<String> words = new ArrayList<>();
    for (String value : values.split(", ", -1)) {
      if (!words.isEmpty() && key(words.getLast()).equals(key(value))) {
        words.removeLast();
      }
      words.add(value);
    }
    return words;
  }

  private static String key(String value) {
    return value.toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
