package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program, as a process of its own. */
class StopTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void whoIsToldToStopDoesNotWaitToBeKilled(@TempDir Path folder) throws IOException, InterruptedException {
    Path kubeconfig = folder.resolve("kubeconfig");
    Files.writeString(
        kubeconfig,
        """
            apiVersion: v1
            kind: Config
            current-context: c
            contexts: [{name: c, context: {cluster: c, user: c}}]
            clusters: [{name: c, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
            users: [{name: c, user: {}}]
            """
            .formatted(cluster.client.getMasterUrl()));
    Path log = folder.resolve("log");
    String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    ProcessBuilder program =
        new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", classPath,
                Main.class.getName(),
                "--identity=only", "--namespace=default", "--health-port=0", "--explain-port=0"))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    program.environment().put("KUBECONFIG", kubeconfig.toString());
    Process process = program.start();
    try {
      eventually().untilAsserted(() -> assertThat(log).content().contains("only leads"));
      process.destroy();
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).as("whether it has stopped").isTrue();
    } finally {
      process.destroyForcibly();
    }
  }
}
