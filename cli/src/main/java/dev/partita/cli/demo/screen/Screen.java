package dev.partita.cli.demo.screen;

import dev.partita.cli.output.Terminal;
import java.io.PrintStream;
import java.nio.charset.Charset;

/** What the demo prints: chapters, facts and checks. Colour and symbols only where they can be shown. */
public final class Screen {
  private static final String PLAIN = "0";
  private static final String BOLD = "1";
  private static final String GREEN = "32";
  private static final String RED = "31";
  private static final String GREY = "90";

  private final PrintStream out;
  private final boolean colour;
  private final boolean symbols;
  private int chapter;
  private volatile boolean muted;

  /**
   * @param colour whether to use ANSI colours
   * @param charset what the other end reads
   */
  Screen(PrintStream out, boolean colour, Charset charset) {
    this.out = out;
    this.colour = colour;
    this.symbols = charset.newEncoder().canEncode('✓');
  }

  /** Standard output, with colour if it is a terminal and {@code NO_COLOR} is not set. */
  public static Screen standard() {
    boolean wanted = System.getenv("NO_COLOR") == null && Terminal.isCapable();
    return new Screen(System.out, wanted, System.out.charset());
  }

  public void title(String text) {
    line(paint(BOLD, text));
  }

  public void chapter(String text) {
    chapter++;
    line("");
    line(paint(BOLD, chapter + ". " + text));
  }

  /** A sentence for the reader. */
  public void say(String text) {
    text.lines().forEach(part -> line("   " + part));
  }

  /** Something quoted: a file, an event, a command's output. */
  public void quote(String text) {
    text.lines().forEach(part -> line("     " + (symbols ? "│ " : "| ") + paint(GREY, part)));
  }

  public void command(String where, String text) {
    line("     " + paint(BOLD, where + "$ " + text));
  }

  public void check(boolean good, String text) {
    String mark = symbols ? (good ? "✓" : "✗") : (good ? "[ok]" : "[FAILED]");
    line("   " + paint(good ? GREEN : RED, mark) + " " + text);
  }

  public void end(boolean good, String text) {
    line("");
    line(paint(good ? GREEN : RED, text));
  }

  /** Prints nothing more. */
  public void mute() {
    muted = true;
  }

  public void line(String text) {
    if (muted) {
      return;
    }
    out.println(text);
    out.flush();
  }

  private String paint(String code, String text) {
    return colour ? "\u001b[" + code + "m" + text + "\u001b[" + PLAIN + "m" : text;
  }
}
