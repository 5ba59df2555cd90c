package dev.partita.cli.output;

import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Makes texts of a cluster safe for a terminal. Anybody may have written them, and some characters move the cursor or
 * turn the writing around: a pod's name could hide a line of the table.
 */
public final class Printable {
  /** Controls, of which terminals know those beyond ASCII as well, ends of lines, and what turns the writing around. */
  static final String MOVERS = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}";

  private static final Pattern MOVING = Pattern.compile("[" + MOVERS + "]");

  private Printable() {}

  /**
   * The text with every character turned into a question mark that moves the cursor or the text around it;
   * {@link Table#UNKNOWN} where there is none.
   */
  public static String text(String text) {
    String shown = MOVING.matcher(text).replaceAll("?");
    return shown.isBlank() ? Table.UNKNOWN : shown;
  }

  /** The same of a text that may have several lines, which stay. */
  public static String lines(String text) {
    return text.lines().map(line -> MOVING.matcher(line).replaceAll("?")).collect(Collectors.joining("\n"));
  }

  /** JSON that says the same, with escapes for these characters, of which JSON's own rules want those of ASCII only. */
  public static String json(String json) {
    return MOVING.matcher(json).replaceAll(found -> found.group().charAt(0) < '\u007f'
        ? found.group() // the ends of lines between the values: the others are escaped
        : found.group().chars().mapToObj(c -> String.format("\\\\u%04x", c)).collect(Collectors.joining()));
  }
}
