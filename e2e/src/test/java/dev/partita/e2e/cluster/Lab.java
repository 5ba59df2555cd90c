package dev.partita.e2e.cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A lab's faults.
 *
 * @param script the lab's script
 */
public record Lab(String script) {
  /** Kills one of a node's daemons, as by SIGKILL. */
  public void kill(String node, String daemon) {
    run("kill", node + "." + daemon);
  }

  public void start(String node, String daemon) {
    run("start", node + "." + daemon);
  }

  private void run(String verb, String name) {
    PartitaCommand.Outcome done =
        new PartitaCommand(Path.of("."), Map.of()).execute(List.of(script, verb, name), Map.of());
    if (done.status() != 0) {
      throw new IllegalStateException("the lab could not " + verb + " " + name + ": " + done.err());
    }
  }
}
