package dev.partita.controller;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * What controllers ask of the API server in these tests, as in {@code GET /api/v1/namespaces/default/pods/p}. When all
 * tests have run it lies in {@code target/requests-sent.txt}, for the test that the chart grants the rights for this
 * alone.
 */
final class SentRequests {
  private static final Set<String> SENT = new ConcurrentSkipListSet<>();
  private static final Path FILE = Path.of("target", "requests-sent.txt");

  static {
    if (System.getProperty("test") == null) { // -Dtest names some of them, which request for less
      Runtime.getRuntime().addShutdownHook(new Thread(SentRequests::write, "requests-sent"));
    }
  }

  private SentRequests() {}

  /** @param target path and query */
  static void record(String method, String target) {
    SENT.add(method + " " + target);
  }

  /** Those of the tests that have run. */
  static Set<String> soFar() {
    return Set.copyOf(SENT);
  }

  private static void write() {
    try {
      Files.write(FILE, SENT);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
