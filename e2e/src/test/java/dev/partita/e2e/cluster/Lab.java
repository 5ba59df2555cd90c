package dev.partita.e2e.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A lab's faults and images.
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

  /**
   * Kills one of Kubernetes' own daemons, as by SIGKILL, and starts it again.
   *
   * @param daemon such as {@code etcd} or {@code node-1.kubelet}
   */
  public void restart(String daemon) {
    run("kill", daemon);
    run("start", daemon);
  }

  /**
   * Makes an image on the lab's base, which has a shell.
   *
   * @param archive where it is written to
   * @param more files as {@code source:/destination}, and {@code --env NAME=value}
   */
  public void image(String name, Path archive, List<String> more) {
    List<String> command = new ArrayList<>(List.of(script, "image", name, archive.toString()));
    command.addAll(more);
    PartitaCommand.Outcome done = new PartitaCommand(Path.of("."), Map.of()).execute(command, Map.of());
    if (done.status() != 0) {
      throw new IllegalStateException("the lab could not make the image " + name + ": " + done.err());
    }
  }

  /** The manifests that a folder's kustomization makes, as YAML. */
  public String kustomize(Path folder) {
    return run("kubectl", "kustomize", folder.toString());
  }

  /** Runs a shell script on a node, as root and whether its kubelet runs or not; gives its stdout. */
  public String shell(String node, String shellScript) {
    return run("exec", node, "sh", "-c", shellScript);
  }

  /** What the API server has logged of webhooks that it went on without, with the time and the reason of each. */
  public List<String> webhooksThatFailed() {
    return run("logs", "apiserver").lines().filter(line -> line.contains("failing open")).toList();
  }

  private String run(String... words) {
    List<String> command = new ArrayList<>(List.of(script));
    command.addAll(List.of(words));
    PartitaCommand.Outcome done = new PartitaCommand(Path.of("."), Map.of()).execute(command, Map.of());
    if (done.status() != 0) {
      throw new IllegalStateException("the lab could not " + words[0] + " " + words[1] + ": " + done.err());
    }
    return done.out();
  }
}
