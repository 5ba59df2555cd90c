package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.junit.jupiter.api.Test;

/** A rolling update has the old and the new pod of the plugin on one node for a while. */
@MockApiServer(crud = true)
class HandoverTest {
  private static final Duration SOON = Duration.ofMinutes(2);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void anOldAndANewPluginShareTheNodesStateAndTheNewOneGoesOnAlone() throws Exception {
    try (TestNode node = TestNode.withCards("node-h", "h200x1");
        Next next = new Next(node, client)) {
      ResourceClaim before = client.resource(claim("before", share("node-h", "gpu", 0, "8Gi", ""))).create();
      ResourceClaim between = client.resource(claim("between", share("node-h", "gpu", 0, "8Gi", ""))).create();
      ResourceClaim tooMuch = client.resource(claim("too-much", share("node-h", "gpu", 0, "130Gi", ""))).create();
      Path old = node.root.resolve("plugins/gpu.partita.dev/dra-old.sock");
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = TestNode.start(node.settings("--pod-uid=old"), client)) {
        first = TestNode.prepare(old, before);
        assertThat(first.getError()).isEmpty();

        next.start();
        // a plugin that is still starting says so, and kubelet tries again
        NodePrepareResourceResponse again = await().atMost(SOON)
            .until(() -> TestNode.prepare(next.socket(), before), answer -> answer.getError().isEmpty());
        assertThat(again).as("the same answer").isEqualTo(first);
        assertThat(TestNode.prepare(next.socket(), between).getError()).isEmpty();
        assertThat(TestNode.prepare(old, tooMuch).getError()).as("the old one counts what the new one has given")
            .contains("would hold");
        assertThat(TestNode.unprepare(old, between)).isEmpty();
        assertThat(node.record(between)).doesNotExist();
      }
      assertThat(old).doesNotExist();
      assertThat(node.root.resolve("registry/gpu.partita.dev-new-reg.sock")).exists();
      assertThat(TestNode.prepare(next.socket(), before)).isEqualTo(first);
      assertThat(TestNode.unprepare(next.socket(), before)).isEmpty();
      assertThat(node.cdiFile(before)).doesNotExist();
      assertThat(next.end()).isZero();
      assertThat(next.socket()).doesNotExist();
    }
  }

  /** The new pod's plugin: a process of its own, as the locks on the state are a process'. */
  private static final class Next implements AutoCloseable {
    private final TestNode node;
    private final KubernetesClient client;
    private Optional<Process> process = Optional.empty();

    Next(TestNode node, KubernetesClient client) {
      this.node = node;
      this.client = client;
    }

    Path socket() {
      return node.root.resolve("plugins/gpu.partita.dev/dra-new.sock");
    }

    void start() throws IOException {
      List<String> command = new ArrayList<>();
      command.add(ProcessHandle.current().info().command().orElseThrow());
      command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
      command.add("-Dkubernetes.master=" + client.getConfiguration().getMasterUrl());
      command.addAll(List.of("-Dkubernetes.trust.certificates=true", "-Dkubernetes.auth.tryKubeConfig=false"));
      command.addAll(
          List.of(Main.class.getName(), "--node-name=node-h", "--pod-uid=new", "--driver-root=" + node.driverRoot()));
      command.add("--hook-libraries=" + node.root.resolve("hook"));
      for (String[] folder : new String[][]{
        {"install-root", "opt"}, {"state-root", "state"}, {"run-root", "run"}, {"cdi-root", "cdi"},
        {"kubelet-registry-dir", "registry"}, {"kubelet-plugins-dir", "plugins"}
      }) {
        command.add("--" + folder[0] + "=" + node.root.resolve(folder[1]));
      }
      Path log = node.root.resolve("next.log");
      Process started = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
      process = Optional.of(started);
      await()
          .atMost(SOON)
          .until(() -> Files.exists(node.root.resolve("registry/gpu.partita.dev-new-reg.sock")) || !started.isAlive());
      assertThat(started.isAlive()).as(() -> read(log)).isTrue();
    }

    /** Ends it as kubelet does; its exit status. */
    int end() throws InterruptedException {
      Process started = process.orElseThrow();
      started.destroy();
      assertThat(started.waitFor(2, TimeUnit.MINUTES)).isTrue();
      return started.exitValue();
    }

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
}
