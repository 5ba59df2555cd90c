package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A registry of images on this machine, on a port of its own; Debian's package docker-registry has the program. */
final class RegistryProcess implements AutoCloseable {
  private static final String PROGRAM = "docker-registry";
  private static final Pattern LISTENING = Pattern.compile("listening on (127\\.0\\.0\\.1:\\d+)");

  private final Process process;
  private final String address;

  private RegistryProcess(Process process, String address) {
    this.process = process;
    this.address = address;
  }

  static RegistryProcess in(Path folder) throws IOException {
    assumeTrue("1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE"))
        || Stream.of(System.getenv("PATH").split(":", -1)).anyMatch(at -> Files.isExecutable(Path.of(at, PROGRAM))),
        "there is no " + PROGRAM);
    Path configuration = Files.writeString(folder.resolve("registry.yaml"), """
        version: 0.1
        storage: {filesystem: {rootdirectory: %s}}
        http: {addr: "127.0.0.1:0"}
        log: {level: info, accesslog: {disabled: true}}
        """.formatted(Files.createDirectories(folder.resolve("registry"))));
    Process process = new ProcessBuilder(PROGRAM, "serve", configuration.toString()).redirectErrorStream(true).start();
    BufferedReader said = process.inputReader();
    StringBuilder all = new StringBuilder();
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      all.append(line).append('\n');
      Matcher listening = LISTENING.matcher(line);
      if (listening.find()) {
        Thread.ofVirtual().start(() -> said.lines().forEach(rest -> {}));
        return new RegistryProcess(process, listening.group(1));
      }
    }
    throw new AssertionError("the registry ended: " + all);
  }

  /** Host and port. */
  String address() {
    return address;
  }

  @Override
  public void close() {
    process.destroy();
    assertThat(process.onExit().join().isAlive()).isFalse();
  }
}
