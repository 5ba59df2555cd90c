package dev.partita.cli.cluster.install;

import dev.partita.cli.command.Waiting;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.jspecify.annotations.Nullable;

/** Whether API servers get answers from Partita's admission webhooks. */
public final class AnsweringWebhooks {
  private static final String CONFIGURATION = "partita-webhook";
  private static final String CONTROLLER = "partita-dra-controller";

  private AnsweringWebhooks() {}

  /**
   * Looks once: at whether the webhooks' certificate is trusted and a controller is ready, which it is when it serves
   * with that. Without webhooks there is nothing to wait for.
   *
   * @param namespace of the release
   */
  public static Waiting.Look<Boolean> look(KubernetesClient client, String namespace) {
    try {
      @Nullable ValidatingWebhookConfiguration webhooks =
          client.resources(ValidatingWebhookConfiguration.class).withName(CONFIGURATION).get();
      if (webhooks == null) {
        return Waiting.done(false);
      }
      if (webhooks.getWebhooks().stream().anyMatch(webhook -> webhook.getClientConfig().getCaBundle() == null)) {
        return Waiting.notYet("they have no certificate yet");
      }
      @Nullable Deployment controller = client.apps().deployments().inNamespace(namespace).withName(CONTROLLER).get();
      boolean ready = controller != null && controller.getStatus().getReadyReplicas() != null
          && controller.getStatus().getReadyReplicas() > 0;
      return ready ? Waiting.done(true) : Waiting.notYet("no controller is ready yet");
    } catch (KubernetesClientException unreachable) {
      return Waiting.notYet(String.valueOf(unreachable.getMessage()));
    }
  }
}
