package dev.partita.e2e.cluster;

import java.util.Map;
import java.util.function.BooleanSupplier;

/** Decides where the cluster under test comes from. */
public sealed interface Provision {
  /** A lab's script makes one on this machine. */
  record Lab(String script) implements Provision {}

  /** The cluster of a kubeconfig, which gets Partita installed and removed. */
  record Current(String kubeconfig) implements Provision {}

  /** k3s in Docker, by Testcontainers. */
  record Docker() implements Provision {}

  /**
   * @param why for the report: what would have to be there
   */
  record Nothing(String why) implements Provision {}

  static Provision decide(Map<String, String> environment, BooleanSupplier dockerAnswers, boolean root) {
    String lab = environment.getOrDefault("KUBE_LAB", "");
    String kubeconfig = environment.getOrDefault("KUBECONFIG", "");
    if (!lab.isEmpty()) {
      return root ? new Lab(lab) : new Nothing("KUBE_LAB is set, but the lab needs root");
    }
    if (!kubeconfig.isEmpty() && "1".equals(environment.get("PARTITA_E2E"))) {
      return new Current(kubeconfig);
    }
    if (dockerAnswers.getAsBoolean()) {
      return new Docker();
    }
    return new Nothing(
        "no cluster to test on: set KUBE_LAB to a lab's script (as root), or KUBECONFIG and PARTITA_E2E=1, or start Docker");
  }
}
