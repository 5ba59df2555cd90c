package dev.partita.cli.cluster.provider;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;

import dev.partita.cli.cluster.install.BareCluster;
import dev.partita.cli.cluster.install.ClusterIdentity;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterClient;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster of the current kubeconfig: Partita is installed there and removed again, the cluster is left standing.
 *
 * @param kubeconfig the file
 */
record CurrentProvider(Path kubeconfig) implements ClusterProvider {

  static CurrentProvider from(Map<String, String> details) {
    return new CurrentProvider(ClusterClient.current(details));
  }

  @Override
  public Map<String, String> details() {
    return Map.of("KUBECONFIG", kubeconfig.toString());
  }

  @Override
  public void check() {
    try (KubernetesClient client = ClusterClient.prompt(kubeconfig)) {
      BareCluster.require(client, kubeconfig.toString());
    }
  }

  @Override
  public ClusterRecord.Access up(int nodes, Optional<String> kubernetes, Progress progress) {
    progress.step("using the cluster of " + kubeconfig);
    return new ClusterRecord.Access(kubeconfig.toString(), List.of(), ClusterIdentity.of(kubeconfig));
  }

  @Override
  public void prepareImages(List<StagedImage> images) {}

  /** The nodes get them by themselves: they must be there, or in a registry. */
  @Override
  public void provideImages(List<StagedImage> images) {}

  @Override
  public void load(Path archive) {
    throw CommandFailure.usage(
        "nothing can be loaded onto the nodes of a cluster that is not ours: push the image to a registry that they pull from");
  }

  @Override
  public void down(ClusterRecord.Access access, Progress progress) {
    progress.step("the cluster of " + kubeconfig + " is left standing");
  }
}
