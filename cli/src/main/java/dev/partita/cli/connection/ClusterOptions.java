package dev.partita.cli.connection;

import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** kubectl's own options that say which cluster is asked, and as whom; a mixin of every command that asks one. */
public final class ClusterOptions {
  @Option(names = "--kubeconfig", paramLabel = "FILE",
      description = "Default: $KUBECONFIG, or ~/.kube/config.") private Optional<Path> kubeconfig = Optional.empty();

  @Option(names = "--context", paramLabel = "NAME",
      description = "Context of the kubeconfig. Default: its current one.") private Optional<String> context =
          Optional.empty();

  private Optional<Config> asked = Optional.empty();

  /** Those of a command; empty if it asks no cluster. */
  public static Optional<ClusterOptions> of(CommandSpec command) {
    return command.mixins().values().stream()
        .flatMap(mixin -> mixin.userObject() instanceof ClusterOptions its ? Stream.of(its) : of(mixin).stream())
        .findFirst();
  }

  /** Whether either of them is given. */
  public boolean areGiven() {
    return file().isPresent() || contextName().isPresent();
  }

  /** The failure that the user sees in the place of the client's. */
  public CommandFailure failure(KubernetesClientException e) {
    return asked.map(config -> ClusterAnswers.failure(e, config)).orElseGet(() -> ClusterAnswers.failure(e));
  }

  /**
   * A client with the user's own rights, that fails after seconds where nobody answers, for somebody waits.
   *
   * @throws CommandFailure if there is no such kubeconfig or context
   */
  public KubernetesClient client() {
    Optional<Path> file = file();
    Config config =
        file.isPresent()
            ? ClusterClient.config(file.get(), contextName())
            : ClusterClient.config(System.getenv(), contextName());
    asked = Optional.of(config);
    return ClusterClient.prompt(config);
  }

  /** kubectl takes an empty one for none, and so for the context. */
  private Optional<Path> file() {
    return kubeconfig.filter(path -> !path.toString().isEmpty());
  }

  private Optional<String> contextName() {
    return context.filter(name -> !name.isEmpty());
  }
}
