package dev.partita.e2e.pages;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A shell that one reader types into: what a command sets is there for the next one. */
final class Terminal implements AutoCloseable {
  private static final String FAILED = "failed:";

  /** For how long a shell is there; no page takes as long. */
  private static final long MOST_SECONDS = 240;

  private final Process bash;
  private final CompletableFuture<Void> deadline;
  private final Writer stdin;
  private final BufferedReader output;
  private final String end = "end-" + UUID.randomUUID();

  /**
   * What came of commands.
   *
   * @param output of stdout and stderr together
   * @param failed the commands that ended with an error, with their exit status
   */
  record Outcome(String output, List<String> failed) {}

  Terminal(Path folder, Map<String, String> environment) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "--noprofile", "--norc").directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().putAll(environment);
    bash = builder.start();
    deadline = CompletableFuture.runAsync(this::end, CompletableFuture.delayedExecutor(MOST_SECONDS, TimeUnit.SECONDS));
    stdin = new OutputStreamWriter(bash.getOutputStream(), StandardCharsets.UTF_8);
    output = new BufferedReader(new InputStreamReader(bash.getInputStream(), StandardCharsets.UTF_8));
    // the shell itself goes on after a failure, as a reader's does
    stdin.write("set -o pipefail\ntrap 'printf \"%s\\n\" \"" + end + " " + FAILED
        + " exit status $?: ${BASH_COMMAND%%[[:cntrl:]]*}\"' ERR\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
  }

  /** Runs commands one after the other. */
  Outcome run(List<String> commands) throws IOException {
    // a command must not read what is typed behind it
    stdin.write("{\n" + String.join("\n", commands) + "\n} </dev/null\nprintf '\\n%s\\n' " + end + "\n");
    stdin.flush();
    List<String> said = new ArrayList<>();
    String line = output.readLine();
    while (line != null && !line.equals(end)) {
      said.add(line);
      line = output.readLine();
    }
    if (line == null) {
      said.add(end + " " + FAILED + " the shell ended");
    }
    String mark = end + " " + FAILED;
    return new Outcome(said.stream().filter(it -> !it.startsWith(mark)).collect(Collectors.joining("\n")),
        said.stream().filter(it -> it.startsWith(mark)).map(it -> it.substring(mark.length()).strip()).toList());
  }

  private void end() {
    bash.descendants().forEach(ProcessHandle::destroyForcibly);
    bash.destroyForcibly();
  }

  @Override
  public void close() throws IOException {
    deadline.cancel(false);
    stdin.close();
    try {
      bash.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    end();
  }
}
