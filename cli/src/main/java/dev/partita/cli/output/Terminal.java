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
    try {
      String output = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return output.startsWith("/dev/pts/") || output.startsWith("/dev/tty");
    } catch (IOException e) {
      return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false); // no /proc: macOS
    }
  }

  /** Whether standard output is one that understands escape sequences. */
  public static boolean isCapable() {
    return isStandardOutput() && !"dumb".equals(System.getenv("TERM"));
  }
}
