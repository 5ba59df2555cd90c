package dev.partita.cli.cluster.provider;

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
   */
  public record Access(String kubeconfig, List<String> path) {
    public static final Access NONE = new Access("", List.of());

    public Access {
      path = List.copyOf(path);
    }
  }
}
