package dev.partita.e2e.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * {@code ./partita}, as a user runs it.
 *
 * @param home folder of the checkout
 * @param environment beyond that of this process
 */
public record PartitaCommand(Path home, Map<String, String> environment) {
  /** More than {@code cluster up} takes that waits in vain, and says for what. */
  private static final long LIMIT_SECONDS = 900;

  /** As timeout(1) has it. */
  private static final int TOOK_TOO_LONG = 124;

  /**
   * What came of a run.
   *
   * @param status exit status; 124 of one that did not end
   */
  public record Outcome(int status, String out, String err) {}

  /** Runs it to its end, with {@code changes} to its environment. */
  public Outcome run(Map<String, String> changes, String... arguments) {
    List<String> command = new ArrayList<>(List.of(home.resolve("partita").toString()));
    command.addAll(List.of(arguments));
    return execute(command, changes);
  }

  public Outcome run(String... arguments) {
    return run(Map.of(), arguments);
  }

  /** Runs another program in the same environment. */
  public Outcome execute(List<String> command, Map<String, String> changes) {
    try {
      Path out = Files.createTempFile("e2e-", ".out");
      Path err = Files.createTempFile("e2e-", ".err");
      try {
        ProcessBuilder builder =
            new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("PARTITA_BUILD", "never");
        builder.environment().putAll(environment);
        builder.environment().putAll(changes);
        Process process = builder.start();
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          process.descendants().forEach(ProcessHandle::destroy);
          process.destroy();
          return new Outcome(TOOK_TOO_LONG, read(out), read(err) + "ended, since it ran for " + LIMIT_SECONDS + " s\n");
        }
        return new Outcome(process.exitValue(), read(out), read(err));
      } finally {
        Files.deleteIfExists(out);
        Files.deleteIfExists(err);
      }
    } catch (IOException failure) {
      throw new IllegalStateException(command + ": " + failure.getMessage(), failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(command + " was interrupted", interrupted);
    }
  }

  /** Begins to run another program in the same environment; what it says on stderr is said here. */
  public Process start(List<String> command, Map<String, String> changes) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("PARTITA_BUILD", "never");
    builder.environment().putAll(environment);
    builder.environment().putAll(changes);
    return builder.start();
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
