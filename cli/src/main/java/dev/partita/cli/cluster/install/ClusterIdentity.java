package dev.partita.cli.cluster.install;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterAnswers;
import dev.partita.cli.connection.ClusterClient;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells a cluster from all others, whatever address, context or user led to it. For example, a kubeconfig leads to
 * another cluster once somebody has chosen another of its contexts.
 *
 * @param uid of its namespace {@code kube-system}, as in OpenTelemetry's {@code k8s.cluster.uid}; empty if it is not
 *        known
 * @param context the kubeconfig's current context, which led to it; empty if it is not known
 */
public record ClusterIdentity(String uid, String context) {
  /** Of a cluster that was not asked. */
  public static final ClusterIdentity UNKNOWN = new ClusterIdentity("", "");

  private static final String SYSTEM = "kube-system";

  /**
   * Asks the cluster to which a kubeconfig leads now.
   *
   * @throws CommandFailure if the file cannot be read, or the cluster does not say
   */
  public static ClusterIdentity of(Path kubeconfig) {
    try (KubernetesClient client = ClusterClient.prompt(kubeconfig)) {
      return of(client);
    }
  }

  private static ClusterIdentity of(KubernetesClient client) {
    try {
      @Nullable Namespace system = client.namespaces().withName(SYSTEM).get();
      if (system == null) {
        throw CommandFailure.failed("the cluster has no namespace " + SYSTEM + ", whose UID tells it from others");
      }
      String context =
          Optional.ofNullable(client.getConfiguration().getCurrentContext()).map(NamedContext::getName).orElse("");
      return new ClusterIdentity(system.getMetadata().getUid(), context);
    } catch (KubernetesClientException refused) {
      throw ClusterAnswers.failure(refused, client.getConfiguration());
    }
  }
}
