package dev.partita.controller.uninstall;

import dev.partita.controller.edge.ControllerClient;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code dra-controller uninstall}, which the chart runs before Helm uninstalls it. */
@Command(
    name = "uninstall",
    mixinStandardHelpOptions = true,
    description = {
      "Ends the controllers and removes what they made in the API: slices, classes, templates, scheduling gates and the lease.",
      "Refuses while pods use claims of Partita, for they could not end without the plugins."
    },
    footer = {"", "Exit status: 0 when all is removed, 1 when it is refused or the API server does not do it."},
    sortOptions = false)
public final class UninstallCommand implements Callable<Integer> {
  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      defaultValue = "${env:PARTITA_NAMESPACE:-}",
      description = "Namespace of the controllers (env PARTITA_NAMESPACE; default: the kubeconfig's or service account's).") String namespace =
          "";

  @Option(
      names = "--deployment",
      paramLabel = "NAME",
      defaultValue = "partita-dra-controller",
      description = "The controllers' Deployment, and their lease (default: ${DEFAULT-VALUE}).") String deployment = "";

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "How long the controllers may take to end (default: ${DEFAULT-VALUE}).") int timeout;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    Config config = Config.autoConfigure(null);
    PrintWriter err = spec.commandLine().getErr();
    String where = namespace.isEmpty() ? Objects.requireNonNullElse(config.getNamespace(), "default") : namespace;
    try (KubernetesClient client = ControllerClient.of(config)) {
      new Removal(client, where, deployment, Duration.ofSeconds(timeout), err::println).run();
      return 0;
    } catch (Removal.RefusedException refused) {
      err.println(refused.getMessage());
    } catch (IllegalStateException | KubernetesClientException failure) {
      err.println("Partita is not uninstalled: " + failure.getMessage());
    }
    return 1;
  }
}
