package dev.partita.cli.output;

import java.io.PrintWriter;

/** Shows one text after the other: in a terminal in the place of the one before, else below it, with a line between. */
public final class Redraw {
  private static final String HOME = "\u001b[H";
  private static final String CLEAR = "\u001b[2J";
  private static final String CLEAR_TO_LINE_END = "\u001b[K";
  private static final String CLEAR_TO_SCREEN_END = "\u001b[J";

  private final PrintWriter out;
  private final boolean inPlace;
  private boolean first = true;

  /** @param inPlace whether {@code out} ends at a terminal that understands escape sequences */
  public Redraw(PrintWriter out, boolean inPlace) {
    this.out = out;
    this.inPlace = inPlace;
  }

  /** Shows a text of whole lines. No line of the one before is left, and none flickers. */
  public void show(String text) {
    if (inPlace) {
      out.print((first ? CLEAR : "") + HOME + text.replace("\n", CLEAR_TO_LINE_END + "\n") + CLEAR_TO_SCREEN_END);
    } else {
      out.print((first ? "" : "\n") + text);
    }
    first = false;
    out.flush();
  }
}
