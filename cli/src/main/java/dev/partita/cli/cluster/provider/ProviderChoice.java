package dev.partita.cli.cluster.provider;

import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Decides where the cluster comes from. */
public sealed interface ProviderChoice {
  record Chosen(ProviderName provider) implements ProviderChoice {}

  /**
   * @param why one line for the user: what to set
   */
  record Refused(String why) implements ProviderChoice {}

  /**
   * @param asked what the user asked for, if anything
   * @param environment the process's
   * @param dockerAnswers whether a Docker engine can be reached; asked for only where it matters
   */
  static ProviderChoice decide(
      Optional<ProviderName> asked,
      Map<String, String> environment,
      BooleanSupplier dockerAnswers) {
    boolean lab = !environment.getOrDefault("KUBE_LAB", "").isEmpty();
    if (asked.isEmpty()) {
      if (lab) {
        return new Chosen(ProviderName.LAB);
      }
      return dockerAnswers.getAsBoolean()
          ? new Chosen(ProviderName.K3S)
          : new Refused(
              "nothing here can bring up a cluster: start Docker (for k3s), set KUBE_LAB to a lab's script,"
                  + " or use the cluster of your kubeconfig with --provider current");
    }
    return switch (asked.get()) {
      case LAB ->
          lab
              ? new Chosen(ProviderName.LAB)
              : new Refused("provider lab: set KUBE_LAB to the path of the lab's script");
      case K3S ->
          dockerAnswers.getAsBoolean()
              ? new Chosen(ProviderName.K3S)
              : new Refused("provider k3s: no Docker engine answers 'docker info'; start one, or set DOCKER_HOST");
      case CURRENT -> new Chosen(ProviderName.CURRENT);
    };
  }
}
