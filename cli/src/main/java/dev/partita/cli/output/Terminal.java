package dev.partita.cli.output;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Whether somebody looks at what is printed. */
public final class Terminal {
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

  private static boolean isDumb() {
    return "dumb".equals(System.getenv("TERM"));
  }
}
