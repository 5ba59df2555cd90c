package dev.partita.cli.cluster;

import dev.partita.cli.checkout.Progress;
import dev.partita.cli.cluster.install.ClusterIdentity;
import dev.partita.cli.cluster.install.PartitaRelease;
import dev.partita.cli.cluster.provider.ClusterProvider;
import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.ProviderName;
import dev.partita.cli.cluster.provider.StateFolder;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterClient;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code partita cluster down}: removes what {@code up} made. */
@Command(
    name = "down",
    description = "Removes what 'up' made: the cluster or, for provider current, Partita from it.",
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  partita cluster down"})
final class DownCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    Progress progress = new Progress(spec.commandLine().getErr(), InstantSource.system());
    StateFolder state = StateFolder.of(System.getenv());
    Optional<ClusterRecord> record = state.read();
    if (record.isEmpty()) {
      progress.step("no cluster is up");
      return;
    }
    remove(record.get(), state, progress);
    state.forget();
    progress.step("down");
  }

  static void remove(ClusterRecord record, StateFolder state, Progress progress) {
    ClusterRecord.Access access = record.access();
    if (record.provider() == ProviderName.CURRENT && !access.kubeconfig().isEmpty()) {
      Path kubeconfig = Path.of(access.kubeconfig());
      if (!Files.exists(kubeconfig)) {
        throw CommandFailure.usage(kubeconfig + " is gone, by which Partita would be removed: put it back or, if the"
            + " cluster is gone too, delete " + state.recordFile());
      }
      refuseAnother(access.cluster(), kubeconfig, state);
      progress.step("removing Partita");
      try (KubernetesClient client = ClusterClient.of(kubeconfig)) {
        new PartitaRelease(kubeconfig, record.namespace()).remove(client);
      }
    }
    ClusterProvider.of(record, state).down(access, progress);
  }

  /** The same kubeconfig leads to another cluster once somebody has chosen another of its contexts. */
  private static void refuseAnother(ClusterIdentity recorded, Path kubeconfig, StateFolder state) {
    if (recorded.equals(ClusterIdentity.UNKNOWN)) {
      throw CommandFailure.usage(state.recordFile() + " is of an earlier version, and does not say to which cluster "
          + kubeconfig + " led: uninstall Partita there as docs/operate/upgrade.md says, and delete that file");
    }
    ClusterIdentity now = ClusterIdentity.of(kubeconfig);
    if (now.uid().equals(recorded.uid())) {
      return;
    }
    throw CommandFailure.usage(
        "context '%s' of %s leads to another cluster than 'cluster up' used: %s or, if that cluster is gone, delete %s"
            .formatted(now.context(), kubeconfig,
                now.context().equals(recorded.context())
                    ? "have it lead there again"
                    : "go back to that by 'kubectl --kubeconfig %s config use-context %s'".formatted(kubeconfig,
                        recorded.context()),
                state.recordFile()));
  }
}
