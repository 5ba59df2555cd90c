package dev.partita.cli.demo.container;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A running command of a container. */
public final class ContainerProcess implements AutoCloseable {
  private final String description;
  private final Process process;
  private final boolean isParent;
  private final Thread reader;

  // guarded by this
  private final List<String> lines = new ArrayList<>();

  /**
   * @param isParent whether the process that was started only keeps the namespaces, and the command is its child
   */
  ContainerProcess(String description, Process process, boolean isParent) {
    this.description = description;
    this.process = process;
    this.isParent = isParent;
    this.reader = Thread.ofVirtual().name("output of " + description).start(this::read);
  }

  private void read() {
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        synchronized (this) {
          lines.add(line);
          notifyAll();
        }
      }
    } catch (IOException e) {
      // The process was killed: what it printed until then is all there is.
    }
  }

  /**
   * Waits for a line that begins in a certain way.
   *
   * @throws IOException if the process ends or the time is up before it came; says what came instead
   */
  public String awaitLine(String start, Duration timeout) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (true) {
      synchronized (this) {
        for (String line : lines) {
          if (line.startsWith(start)) {
            return line;
          }
        }
        long left = deadline - System.nanoTime();
        if (left <= 0 || !reader.isAlive()) {
          throw new IOException(description + " did not print '" + start + "' but: " + String.join("\n", lines));
        }
        wait(Math.clamp(TimeUnit.NANOSECONDS.toMillis(left), 1, 100));
      }
    }
  }

  public boolean isRunning() {
    return process.isAlive();
  }

  /** Ends the command as kubelet does: SIGTERM, and SIGKILL when the grace period is over. */
  public Outcome stop(Duration gracePeriod) throws IOException, InterruptedException {
    program().destroy();
    return await(gracePeriod);
  }

  /** Waits for the end. */
  Outcome await(Duration timeout) throws IOException, InterruptedException {
    if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      close();
      throw new IOException(description + " was still running after " + timeout.toSeconds() + " s");
    }
    reader.join();
    synchronized (this) {
      return new Outcome(process.exitValue(), lines);
    }
  }

  /** Kills the command if it still runs. */
  @Override
  public void close() {
    program().destroyForcibly();
    process.destroyForcibly();
  }

  private ProcessHandle program() {
    return isParent ? process.children().findFirst().orElseGet(process::toHandle) : process.toHandle();
  }
}
