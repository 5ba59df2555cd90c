package dev.partita.cli.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.cluster.provider.ClusterClient;
import dev.partita.cli.command.CommandFailure;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita explain}. */
@Command(
    name = "explain",
    description = {
      "Says how a pod stands with the controller, or the pods that use a claim; for one that waits, every node and card with the first reason "
          + "that excludes it, as of now.",
      "",
      "The controller is asked, through a port that is forwarded to its pod: that needs the right to list pods and to create pods/portforward in "
          + "the namespace of Partita. Who has not can read the digest:",
      "in the pod's condition gpu.partita.dev/Allocated, and in its claims' events."
    },
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  partita explain pod train -n team-a",
      "  partita explain claim train-gpu-x7k2p -n team-a",
      "  partita explain pod train -n team-a -o json"
    })
public final class ExplainCommand implements Runnable {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  /** Which cluster, and how it is said. */
  static final class Options {
    @Option(names = {"-n", "--namespace"}, paramLabel = "NAME",
        description = "Namespace of the pod or claim. Default: the kubeconfig's.") private Optional<String> namespace =
            Optional.empty();

    @Option(names = {"-o", "--output"}, paramLabel = "FORMAT", defaultValue = "text",
        description = "text or json. Default: ${DEFAULT-VALUE}.") private String output;

    @Option(names = "--kubeconfig", paramLabel = "FILE",
        description = "Default: $KUBECONFIG, or ~/.kube/config.") private Optional<Path> kubeconfig = Optional.empty();

    @Option(
        names = "--partita-namespace",
        paramLabel = "NAME",
        defaultValue = "partita-system",
        description = "Namespace of Partita's own pods. Default: ${DEFAULT-VALUE}.") private String partitaNamespace;
  }

  @Command(name = "pod", description = "How a pod stands.", mixinStandardHelpOptions = true, sortOptions = false)
  void pod(@Parameters(paramLabel = "NAME", description = "The pod.") String name, @Mixin Options options) {
    explain(Question.Kind.POD, name, options);
  }

  @Command(name = "claim", description = "How the pods stand that use a ResourceClaim.",
      mixinStandardHelpOptions = true, sortOptions = false)
  void claim(@Parameters(paramLabel = "NAME", description = "The ResourceClaim.") String name, @Mixin Options options) {
    explain(Question.Kind.CLAIM, name, options);
  }

  private void explain(Question.Kind kind, String name, Options options) {
    if (!options.output.equals("text") && !options.output.equals("json")) {
      throw CommandFailure.usage("--output is 'text' or 'json', not '" + options.output + "'");
    }
    try (KubernetesClient client =
        ClusterClient.of(options.kubeconfig.orElseGet(() -> ClusterClient.current(System.getenv())))) {
      String namespace =
          options.namespace.orElseGet(() -> Objects.requireNonNullElse(client.getNamespace(), "default"));
      Question question = new Question(kind, namespace, name);
      List<PodExplanation> pods = new ControllerPort(client, options.partitaNamespace).ask(question);
      PrintWriter out = spec.commandLine().getOut();
      out.print(options.output.equals("json") ? json(pods) : ExplanationText.of(question, pods));
      out.flush();
    }
  }

  private static String json(List<PodExplanation> pods) {
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(pods) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
