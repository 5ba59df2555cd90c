package dev.partita.cli.checkout;

import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Another program, run to its end.
 *
 * @param status exit status
 * @param out what it wrote on stdout
 * @param err what it wrote on stderr
 */
public record Subprocess(int status, String out, String err) {
  /** As timeout(1) has it. */
  private static final int TOOK_TOO_LONG = 124;

  private static final int NOT_FOUND = 127;

  /** What builds, pulls images or brings a cluster up takes minutes: after that much it stands still. */
  private static final Duration LONGEST = Duration.ofHours(1);

  /** Runs a program without input; gives what came of it, whatever that is. */
  public static Subprocess run(Map<String, String> environment, List<String> command) {
    return within(LONGEST, environment, command);
  }

  public static Subprocess run(String... command) {
    return run(Map.of(), Arrays.asList(command));
  }

  /** The same of a program that is to answer within so much time: after that it is killed, with what it started. */
  public static Subprocess within(Duration patience, String... command) {
    return within(patience, Map.of(), Arrays.asList(command));
  }

  private static Subprocess within(Duration patience, Map<String, String> environment, List<String> command) {
    try {
      Path folder = Files.createTempDirectory("partita-");
      Path out = folder.resolve("out");
      Path err = folder.resolve("err");
      try {
        ProcessBuilder builder =
            new ProcessBuilder(command).redirectInput(Path.of("/dev/null").toFile()).redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
          return new Subprocess(process.exitValue(), text(out), text(err));
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        return new Subprocess(TOOK_TOO_LONG, text(out),
            text(err) + "\nit did not end within " + seconds(patience) + " s, and was killed");
      } finally {
        Files.deleteIfExists(out);
        Files.deleteIfExists(err);
        Files.deleteIfExists(folder);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted while '" + command.getFirst() + "' ran");
    } catch (IOException missing) {
      return new Subprocess(NOT_FOUND, "", String.valueOf(missing.getMessage()));
    }
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  private static String seconds(Duration patience) {
    return patience.toMillisPart() == 0
        ? Long.toString(patience.toSeconds())
        : Double.toString(patience.toMillis() / 1000.0);
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
