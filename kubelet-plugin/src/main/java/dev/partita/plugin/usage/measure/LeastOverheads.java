package dev.partita.plugin.usage.measure;

import dev.partita.cdi.DurableFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps in a file what a process takes at least on each model of card, so that the next plugin need not learn it anew.
 * One line says who wrote the file; each other line is a number of bytes and a card's product name. What cannot be read
 * counts as missing.
 */
public final class LeastOverheads {
  private static final Logger LOG = LoggerFactory.getLogger(LeastOverheads.class);
  private static final String FIRST_LINE = "partita-overheads 1";
  private static final int MOST_BYTES = 1 << 16;
  private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");

  private final Path file;
  private Map<String, Long> kept;

  /** The folder of the file must be there when something is kept. */
  public LeastOverheads(Path file) {
    this.file = file;
    this.kept = read();
  }

  /** Bytes by {@link dev.partita.plugin.grant.Grant#contextModel}. */
  public Map<String, Long> kept() {
    return kept;
  }

  /** Writes the figures if they are not what is kept; tries again with the next ones if that fails. */
  public void keep(Map<String, Long> least) {
    if (least.equals(kept)) {
      return;
    }
    StringBuilder text = new StringBuilder(FIRST_LINE).append('\n');
    new TreeMap<>(least).forEach(
        (model, bytes) -> text.append(bytes).append(' ').append(model.replaceAll("\\p{Cntrl}", " ")).append('\n'));
    try {
      DurableFile.write(file, text.toString().getBytes(StandardCharsets.UTF_8), PRIVATE);
      kept = Map.copyOf(least);
    } catch (IOException e) {
      LOG.debug("what contexts take at least cannot be kept: {}", e.toString());
    }
  }

  private Map<String, Long> read() {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new IOException("it is too large");
      }
      String[] lines = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n", -1);
      if (!lines[0].equals(FIRST_LINE)) {
        throw new IOException("it does not begin with " + FIRST_LINE);
      }
      Map<String, Long> least = new TreeMap<>();
      for (int i = 1; i < lines.length; i++) {
        int space = lines[i].indexOf(' ');
        long bytes = space < 0 ? 0 : number(lines[i].substring(0, space));
        if (bytes > 0 && bytes <= OverheadBook.USUAL) {
          least.merge(lines[i].substring(space + 1), bytes, Math::min);
        }
      }
      return Map.copyOf(least);
    } catch (NoSuchFileException e) {
      return Map.of();
    } catch (IOException e) {
      LOG.info("cannot use {}; learning anew what contexts take at least: {}", file, e.getMessage());
      return Map.of();
    }
  }

  private static long number(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
