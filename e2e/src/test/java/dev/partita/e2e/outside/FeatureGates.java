package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.RealCluster;

/** The feature gates that a test needs on its cluster and that are off by default. */
final class FeatureGates {
  private FeatureGates() {}

  /** Fails with the gate's name where the API server has it off. */
  static void assertOn(RealCluster cluster, String... gates) {
    String metrics = cluster.client().raw("/metrics");
    for (String gate : gates) {
      assertThat(metrics).as("the API server's feature gate " + gate)
          .containsPattern("kubernetes_feature_enabled\\{name=\"" + gate + "\".*} 1");
    }
  }
}
