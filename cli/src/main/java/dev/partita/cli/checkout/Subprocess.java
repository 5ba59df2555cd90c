package dev.partita.cli.checkout;

import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Another program, run to its end.
 *
 * @param status exit status
 * @param out what it wrote on stdout
 * @param err what it wrote on stderr
 */
public record Subprocess(int status, String out, String err) {

  /** Runs a program without input; gives what came of it, whatever that is. */
  public static Subprocess run(Map<String, String> environment, List<String> command) {
    try {
      Path err = Files.createTempFile("partita-", ".err");
      try {
        ProcessBuilder builder =
            new ProcessBuilder(command).redirectInput(Path.of("/dev/null").toFile()).redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Subprocess(process.waitFor(), out, Files.readString(err));
      } finally {
        Files.deleteIfExists(err);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted while '" + command.getFirst() + "' ran");
    } catch (IOException missing) {
      return new Subprocess(127, "", String.valueOf(missing.getMessage()));
    } catch (UncheckedIOException unreadable) {
      throw CommandFailure.failed("no output of '" + command.getFirst() + "': " + unreadable.getMessage());
    }
  }

  public static Subprocess run(String... command) {
    return run(Map.of(), Arrays.asList(command));
  }

  /** Runs a program that must succeed; gives its stdout. */
  public static String must(Map<String, String> environment, List<String> command) {
    Subprocess done = run(environment, command);
    if (done.status != 0) {
      throw CommandFailure
          .failed("'%s' ended with status %d: %s".formatted(shown(command), done.status, done.lastWords()));
    }
    return done.out;
  }

  public static String must(String... command) {
    return must(Map.of(), Arrays.asList(command));
  }

  /** The last line that it wrote, on stderr or else on stdout; for messages of one line. */
  public String lastWords() {
    String said = err.isBlank() ? out : err;
    return said.strip().lines().reduce((first, second) -> second).orElse("it said nothing");
  }

  private static String shown(List<String> command) {
    return String.join(" ", command.size() > 4 ? command.subList(0, 4) : command);
  }
}
