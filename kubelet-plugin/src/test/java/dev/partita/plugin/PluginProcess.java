package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The plugin of another pod on the same node: a process of its own, as the locks on the state are a process'. */
final class PluginProcess implements AutoCloseable {
  private static final Duration SOON = Duration.ofMinutes(2);

  private final TestNode node;
  private final KubernetesClient client;
  private final String podUid;
  private final List<String> more;
  private Optional<Process> process = Optional.empty();

  /**
   * @param client says where the API server is, and as whom it is asked
   * @param more options besides
   */
  PluginProcess(TestNode node, KubernetesClient client, String podUid, List<String> more) {
    this.node = node;
    this.client = client;
    this.podUid = podUid;
    this.more = more;
  }

  Path socket() {
    return node.root.resolve("plugins/gpu.partita.dev/dra-" + podUid + ".sock");
  }

  /** Starts it; when this returns kubelet can see it. */
  void start() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add("-Dkubernetes.master=" + client.getConfiguration().getMasterUrl());
    command.add("-Dkubernetes.user.agent=" + client.getConfiguration().getUserAgent());
    command.addAll(List.of("-Dkubernetes.trust.certificates=true", "-Dkubernetes.auth.tryKubeConfig=false"));
    command.addAll(List.of(Main.class.getName(), "--node-name=" + node.name, "--pod-uid=" + podUid,
        "--driver-root=" + node.driverRoot()));
    command.add("--hook-libraries=" + node.root.resolve("hook"));
    for (String[] folder : new String[][]{
      {"install-root", "opt"}, {"state-root", "state"}, {"run-root", "run"}, {"cdi-root", "cdi"},
      {"kubelet-registry-dir", "registry"}, {"kubelet-plugins-dir", "plugins"}
    }) {
      command.add("--" + folder[0] + "=" + node.root.resolve(folder[1]));
    }
    command.addAll(more);
    Path log = node.root.resolve(podUid + ".log");
    Process started = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    process = Optional.of(started);
    Path registration = node.root.resolve("registry/gpu.partita.dev-" + podUid + "-reg.sock");
    await().atMost(SOON).until(() -> Files.exists(registration) || !started.isAlive());
    assertThat(started.isAlive()).as(() -> read(log)).isTrue();
  }

  /** Ends it as kubelet does; its exit status. */
  int end() throws InterruptedException {
    Process started = process.orElseThrow();
    started.destroy();
    assertThat(started.waitFor(2, TimeUnit.MINUTES)).isTrue();
    return started.exitValue();
  }

  /** Kills it, if it runs. */
  @Override
  public void close() {
    process.ifPresent(started -> started.destroyForcibly().onExit().join());
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
