package dev.partita.cli.connection;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The namespace, or all of them, of the objects that a command lists. */
public final class NamespacesOption {
  @Mixin private final NamespaceOption one = new NamespaceOption();

  @Option(names = {"-A", "--all-namespaces"},
      description = "In all namespaces; --namespace is ignored then.") private boolean all;

  /** The one namespace; empty for all. */
  public Optional<String> of(KubernetesClient client) {
    return all ? Optional.empty() : Optional.of(one.of(client));
  }
}
