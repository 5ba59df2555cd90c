package dev.partita.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** Tells the version that pom.xml had when this was built. */
public final class Version implements IVersionProvider {
  private static final String FILE = "version.txt";

  /** @throws IOException if the build has left out the file */
  @Override
  public String[] getVersion() throws IOException {
    try (InputStream in = Objects.requireNonNull(Version.class.getResourceAsStream(FILE), FILE)) {
      return new String[]{"partita " + new String(in.readAllBytes(), StandardCharsets.UTF_8).strip()};
    }
  }
}
