package dev.partita.cli.cluster.install;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.connection.ClusterAnswers;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** A cluster that answers and has no Partita yet. */
public final class BareCluster {
  private BareCluster() {}

  /**
   * Asks a cluster that somebody else keeps, once.
   *
   * @param kubeconfig how the user knows it
   * @throws CommandFailure if it does not answer, or has one
   */
  public static void require(KubernetesClient client, String kubeconfig) {
    try {
      refuse(PartitaRelease.isInstalled(client));
    } catch (KubernetesClientException unreachable) {
      throw CommandFailure.usage("the cluster of %s cannot be used: %s".formatted(kubeconfig,
          ClusterAnswers.failure(unreachable, client.getConfiguration()).getMessage()));
    }
  }

  /**
   * Asks a cluster that was just made until it answers.
   *
   * @throws CommandFailure if it does not within that time, or has one
   */
  public static void await(KubernetesClient client, int seconds) {
    refuse(Waiting.upTo(seconds, "the API server to answer", () -> {
      try {
        return Waiting.done(PartitaRelease.isInstalled(client));
      } catch (KubernetesClientException notYet) {
        return Waiting.notYet(ClusterAnswers.reason(notYet));
      }
    }));
  }

  private static void refuse(boolean isInstalled) {
    if (isInstalled) {
      throw CommandFailure.usage("Partita is already installed in this cluster: remove it first");
    }
  }
}
