package dev.partita.cli.output;

import java.io.PrintWriter;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * Shows one text after the other: in a terminal in the place of the one before, else below it, with a line between. Of
 * a text with more lines than the terminal has the first ones are shown, and how many there are besides; lines that are
 * too long are cut there.
 */
public final class Redraw {
  private static final String HOME = "\u001b[H";
  private static final String CLEAR = "\u001b[2J";
  private static final String CLEAR_TO_LINE_END = "\u001b[K";
  private static final String CLEAR_TO_SCREEN_END = "\u001b[J";
  private static final String CUT_LONG_LINES = "\u001b[?7l"; // DECAWM off
  private static final String WRAP_LONG_LINES = "\u001b[?7h";

  private final PrintWriter out;
  private final boolean inPlace;
  private final Supplier<OptionalInt> height;
  private boolean first = true;

  /**
   * @param inPlace whether {@code out} ends at a terminal that understands escape sequences
   * @param height how many lines that has now; empty if it does not tell
   */
  public Redraw(PrintWriter out, boolean inPlace, Supplier<OptionalInt> height) {
    this.out = out;
    this.inPlace = inPlace;
    this.height = height;
  }

  /** Shows a text of whole lines. No line of the one before is left, and none flickers. */
  public void show(String text) {
    if (inPlace) {
      out.print((first ? CLEAR : "") + HOME + CUT_LONG_LINES
          + fitting(text, height.get().orElse(Integer.MAX_VALUE)).replace("\n", CLEAR_TO_LINE_END + "\n")
          + WRAP_LONG_LINES + CLEAR_TO_SCREEN_END);
    } else {
      out.print((first ? "" : "\n") + text);
    }
    first = false;
    out.flush();
  }

  /** The last line of the terminal stays empty: the text's last line ends there. */
  private static String fitting(String text, int lines) {
    List<String> all = text.lines().toList();
    if (all.size() < lines) {
      return text;
    }
    int shown = Math.max(1, lines - 2);
    return String.join("\n", all.subList(0, shown)) + "\n… and " + (all.size() - shown) + " more lines\n";
  }
}
