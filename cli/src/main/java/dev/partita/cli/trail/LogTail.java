package dev.partita.cli.trail;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;

/**
 * The end of a log: its newest lines.
 *
 * @param text whole lines
 * @param isCut whether older ones were left out
 */
record LogTail(String text, boolean isCut) {

  /**
   * Reads a log to its end.
   *
   * @param mostBytes how much of the end is kept
   */
  static LogTail of(InputStream log, int mostBytes) throws IOException {
    byte[] ring = new byte[mostBytes];
    long read = 0;
    while (true) {
      int at = (int) (read % mostBytes);
      int now = log.read(ring, at, mostBytes - at);
      if (now < 0) {
        break;
      }
      read += now;
    }
    if (read <= mostBytes) {
      return new LogTail(new String(ring, 0, (int) read, StandardCharsets.UTF_8), false);
    }
    int oldest = (int) (read % mostBytes);
    byte[] newest = new SequenceInputStream(new ByteArrayInputStream(ring, oldest, mostBytes - oldest),
        new ByteArrayInputStream(ring, 0, oldest)).readAllBytes();
    String text = new String(newest, StandardCharsets.UTF_8);
    return new LogTail(text.substring(text.indexOf('\n') + 1), true);
  }

  /** How many lines it has. */
  long lines() {
    return text.lines().count();
  }
}
