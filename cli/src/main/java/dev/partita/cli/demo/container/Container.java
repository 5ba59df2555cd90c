package dev.partita.cli.demo.container;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A created container, in which commands run one after the other or side by side, each with the container's whole view.
 */
public final class Container {
  private final String name;
  private final ContainerSpec spec;
  private final Function<List<String>, List<String>> entry;
  private final boolean entryStays;

  /**
   * @param entry turns a command in the container into one on this machine that enters the container and runs it
   * @param entryStays whether it runs it as its child, instead of becoming it
   */
  Container(String name, ContainerSpec spec, Function<List<String>, List<String>> entry, boolean entryStays) {
    this.name = name;
    this.spec = spec;
    this.entry = entry;
    this.entryStays = entryStays;
  }

  public String name() {
    return name;
  }

  public ContainerSpec spec() {
    return spec;
  }

  /** Starts a command and leaves it running. */
  public ContainerProcess start(String... command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(entry.apply(List.of(command)));
    builder.directory(Path.of("/").toFile());
    builder.redirectErrorStream(true);
    return new ContainerProcess(name + ": " + String.join(" ", command), builder.start(), entryStays);
  }

  /**
   * Runs a command to its end.
   *
   * @throws IOException if it is still running after the timeout; it is killed then
   */
  public Outcome run(Duration timeout, String... command) throws IOException, InterruptedException {
    return start(command).await(timeout);
  }

  /** {@code env -i NAME=value… command}: the command with the container's environment and nothing else. */
  static List<String> withEnvironment(ContainerSpec spec, List<String> command) {
    List<String> line = new ArrayList<>(List.of("/usr/bin/env", "-i"));
    spec.env().forEach((name, value) -> line.add(name + "=" + value));
    line.addAll(command);
    return line;
  }
}
