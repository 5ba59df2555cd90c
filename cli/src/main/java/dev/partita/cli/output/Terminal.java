package dev.partita.cli.output;

import java.io.BufferedReader;
import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether somebody looks at what is printed. */
public final class Terminal {
  private static final Pattern SIZE = Pattern.compile("([0-9]{1,5}) [0-9]{1,5}"); // lines, columns

  private Terminal() {}

  /**
   * Whether standard output is a terminal. System.console() asks whether input is one as well, which does not matter.
   */
  public static boolean isStandardOutput() {
    return isTerminal(1);
  }

  private static boolean isTerminal(int descriptor) {
    try {
      String leadsTo = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return leadsTo.startsWith("/dev/pts/") || leadsTo.startsWith("/dev/tty");
    } catch (IOException e) {
      return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false); // no /proc: macOS
    }
  }

  /** Whether standard error, where progress is shown, is one that understands escape sequences. */
  public static boolean isProgressSeen() {
    return isTerminal(2) && !isDumb();
  }

  /** Whether standard output is one that understands escape sequences. */
  public static boolean isCapable() {
    return isStandardOutput() && !isDumb();
  }

  /** How many lines the terminal has now; empty if there is none, or it does not tell. */
  public static OptionalInt height() {
    try {
      Process stty = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty"))
          .redirectError(ProcessBuilder.Redirect.DISCARD).start();
      try (BufferedReader said = stty.inputReader()) {
        Matcher size = SIZE.matcher(String.valueOf(said.readLine()));
        return size.matches() && !size.group(1).equals("0")
            ? OptionalInt.of(Integer.parseInt(size.group(1)))
            : OptionalInt.empty();
      }
    } catch (IOException e) {
      return OptionalInt.empty();
    }
  }

  private static boolean isDumb() {
    return "dumb".equals(System.getenv("TERM"));
  }
}
