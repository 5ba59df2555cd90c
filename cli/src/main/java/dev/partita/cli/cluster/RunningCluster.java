package dev.partita.cli.cluster;

import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.StateFolder;
import dev.partita.cli.command.CommandFailure;

/** The cluster that a command needs to be up. */
final class RunningCluster {
  private RunningCluster() {}

  static ClusterRecord require(StateFolder state) {
    return state
        .read()
        .filter(record -> !record.access().kubeconfig().isEmpty())
        .orElseThrow(() -> CommandFailure.usage("no cluster is up: 'partita cluster up' brings one up"));
  }
}
