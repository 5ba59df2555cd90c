package dev.partita.cli.command;

import dev.partita.cli.demo.controlplane.ApiServer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** An API server in this process with Partita's kinds, and a kubeconfig for it. */
public final class PaperCluster implements AutoCloseable {
  private final ApiServer api;
  private final KubernetesClient client;
  private final Path kubeconfig;

  /** @param folder where the kubeconfig is written */
  public PaperCluster(Path folder) throws IOException {
    api = ApiServer.start();
    api.installDefinitions(Path.of("..", "deploy", "helm", "partita", "crds"));
    client = api.client();
    kubeconfig =
        Files.writeString(
            folder.resolve("kubeconfig"),
            """
                apiVersion: v1
                kind: Config
                current-context: paper
                contexts:
                - {name: paper, context: {cluster: paper, user: paper, namespace: team}}
                clusters:
                - {name: paper, cluster: {server: "%s"}}
                users:
                - {name: paper}
                """.formatted(api.url()));
  }

  /** A client that may do everything. */
  public KubernetesClient client() {
    return client;
  }

  /** Makes an object together with its status, which the server takes only as an update. */
  public <T extends HasMetadata> void add(T object) {
    T made = client.resource(object).create();
    object.getMetadata().setResourceVersion(made.getMetadata().getResourceVersion());
    client.resource(object).updateStatus();
  }

  /** Runs a command line against this cluster. */
  public CommandRun run(String... arguments) {
    return CommandRun.of(withKubeconfig(arguments));
  }

  /** The command line with the option that names this cluster. */
  public String[] withKubeconfig(String... arguments) {
    return Stream.concat(Stream.of(arguments), Stream.of("--kubeconfig", kubeconfig.toString()))
        .toArray(String[]::new);
  }

  @Override
  public void close() {
    client.close();
    api.close();
  }
}
