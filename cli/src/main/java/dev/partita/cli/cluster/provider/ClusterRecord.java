package dev.partita.cli.cluster.provider;

import dev.partita.cli.cluster.install.ClusterIdentity;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What {@code cluster up} made and {@code cluster down} removes; written before anything is made.
 *
 * @param provider where the cluster came from
 * @param details what the provider needs to find its cluster again
 * @param namespace of the chart's release
 * @param gpus the simulated cards of each node, as {@code h200x4}
 * @param startedAt when it was brought up
 * @param access how to reach it
 */
public record ClusterRecord(
    ProviderName provider,
    Map<String, String> details,
    String namespace,
    String gpus,
    Instant startedAt,
    Access access) {

  public ClusterRecord {
    details = Map.copyOf(details);
  }

  public ClusterRecord withAccess(Access reachable) {
    return new ClusterRecord(provider, details, namespace, gpus, startedAt, reachable);
  }

  /**
   * How to reach the cluster.
   *
   * @param kubeconfig file; empty while the cluster is not up yet
   * @param path folders with the provider's own kubectl, to stand before the user's PATH
   * @param cluster to which the kubeconfig led; unknown where it leads to one only, and in records of earlier versions
   */
  public record Access(String kubeconfig, List<String> path, ClusterIdentity cluster) {
    public static final Access NONE = own("", List.of());

    @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
    public Access {
      path = List.copyOf(path);
      cluster = cluster == null ? ClusterIdentity.UNKNOWN : cluster;
    }

    /** By a kubeconfig that the provider wrote for its cluster, and that leads to no other. */
    static Access own(String kubeconfig, List<String> path) {
      return new Access(kubeconfig, path, ClusterIdentity.UNKNOWN);
    }
  }
}
