package dev.partita.cli.connection;

import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;

/** The controller's pods, which answer through a forwarded port. */
public final class ControllerPods {
  private static final String LABEL = "app.kubernetes.io/name";
  private static final String CONTROLLER = "dra-controller";

  private ControllerPods() {}

  /**
   * Names of those that run.
   *
   * @param namespace of Partita's pods
   * @throws CommandFailure if none does
   * @throws KubernetesClientException if they cannot be listed
   */
  public static List<String> running(KubernetesClient client, String namespace) {
    List<String> names =
        client.pods().inNamespace(namespace).withLabel(LABEL, CONTROLLER).list().getItems().stream()
            .filter(
                pod -> pod.getMetadata().getDeletionTimestamp() == null && "Running".equals(pod.getStatus().getPhase()))
            .map(pod -> pod.getMetadata().getName())
            .toList();
    if (names.isEmpty()) {
      throw CommandFailure.failed(
          "no controller runs in namespace " + namespace + " (no pod with label " + LABEL + "=" + CONTROLLER
              + "); --partita-namespace names another");
    }
    return names;
  }
}
