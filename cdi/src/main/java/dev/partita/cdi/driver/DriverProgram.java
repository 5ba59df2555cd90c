package dev.partita.cdi.driver;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program of the driver root for a bounded time, with no environment but the one that is given. What it prints
 * is read while it runs, so that one that prints more than a pipe holds (64 KiB, pipe(7)) ends, too.
 */
public final class DriverProgram {
  private static final int MOST_TOLD = 400;
  private static final int PIPE = 64 << 10;
  private static final Duration BETWEEN_READS = Duration.ofMillis(20);

  private DriverProgram() {}

  /** How a run ended. */
  public sealed interface Outcome {
    /**
     * The program has ended.
     *
     * @param status its exit status
     * @param said the first {@value #MOST_TOLD} bytes that it printed, in one line
     */
    record Ended(int status, String said) implements Outcome {}

    /** The program did not end in its time, and was killed with all that it had started. */
    record Hangs() implements Outcome {}
  }

  /**
   * Runs a program. What the program has started is not waited for, even if it keeps the program's output open.
   *
   * @param command the program's path and its arguments
   * @param environment all of its environment
   * @param input what it reads, in ASCII; one that does not read it is no error
   * @param patience how long it may take
   * @throws IOException if it cannot be started, or if the calling thread is interrupted
   */
  public static Outcome run(List<String> command, Map<String, String> environment, String input, Duration patience)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      give(process, input);
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      long begin = System.nanoTime();
      while (!process.waitFor(BETWEEN_READS.toMillis(), TimeUnit.MILLISECONDS)) {
        if (System.nanoTime() - begin >= patience.toNanos()) {
          return new Outcome.Hangs();
        }
        read(process.getInputStream(), said);
      }
      read(process.getInputStream(), said);
      return new Outcome.Ended(process.exitValue(),
          said.toString(StandardCharsets.UTF_8).strip().replaceAll("\\s+", " "));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + command.getFirst() + " ran", e);
    } finally {
      if (process.isAlive()) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    }
  }

  private static void give(Process process, String input) {
    try (var to = process.getOutputStream()) {
      to.write(input.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException _) { // it may end, or close its input, without reading it
    }
  }

  /** Not to its end: a process that the program has started may keep the pipe open. */
  private static void read(InputStream output, ByteArrayOutputStream said) throws IOException {
    byte[] some = output.readNBytes(Math.min(PIPE, output.available()));
    said.write(some, 0, Math.min(some.length, MOST_TOLD - said.size()));
  }
}
