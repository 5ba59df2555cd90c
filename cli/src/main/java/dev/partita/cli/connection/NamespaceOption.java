package dev.partita.cli.connection;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The namespace of the one object that a command is about. */
public final class NamespaceOption {
  @Option(names = {"-n", "--namespace"}, paramLabel = "NAME",
      description = "Namespace. Default: the context's.") private Optional<String> namespace = Optional.empty();

  /** The namespace that was asked for, or the one of the client's context; kubectl takes an empty one for none. */
  public String of(KubernetesClient client) {
    return ObjectName.checked(namespace.filter(name -> !name.isEmpty())
        .or(() -> Optional.ofNullable(client.getNamespace())).orElse("default"));
  }
}
