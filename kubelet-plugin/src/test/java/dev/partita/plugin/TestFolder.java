package dev.partita.plugin;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder for a test, which ends with it. */
record TestFolder(Path path) implements AutoCloseable {
  private static final Path TMPFS = Path.of("/dev/shm");

  /** Skips the test if there is no tmpfs for everybody. */
  static TestFolder onTmpfs() throws IOException {
    assumeTrue(Files.isWritable(TMPFS) && Files.getFileStore(TMPFS).type().equals("tmpfs"), TMPFS + " is no tmpfs");
    return new TestFolder(Files.createTempDirectory(TMPFS, "pkp"));
  }

  @Override
  public void close() {
    delete(path);
  }

  static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
