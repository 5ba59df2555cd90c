package dev.partita.cli.explain;

import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.NamespaceOption;
import dev.partita.cli.connection.ObjectName;
import dev.partita.cli.connection.PartitaNamespaceOption;
import dev.partita.cli.output.OutputOption;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita explain}. */
@Command(
    name = "explain",
    description = {
      "Says what the controller has decided about a pod, or about the pods that use a claim. Of a pod that waits it says of every node and card "
          + "the first reason for which the pod cannot have it now.",
      "",
      "The command asks the controller, through a port that is forwarded to its pod. That needs the right to list pods and to create "
          + "pods/portforward in the namespace of Partita. Without that right, read the summary in the pod's condition gpu.partita.dev/Allocated "
          + "and in its claims' events."
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
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  /** Which cluster, and how it is said. */
  static final class Options {
    @Mixin private final NamespaceOption namespace = new NamespaceOption();
    @Mixin private final OutputOption output = new OutputOption();
    @Mixin private final ClusterOptions cluster = new ClusterOptions();
    @Mixin private final PartitaNamespaceOption partita = new PartitaNamespaceOption();
  }

  @Command(name = "pod", description = "What is decided about a pod.", mixinStandardHelpOptions = true,
      sortOptions = false,
      footer = {"", "Example:", "  partita explain pod train -n team-a"})
  void pod(@Parameters(paramLabel = "NAME", description = "The pod.") String name, @Mixin Options options) {
    explain(Question.Kind.POD, name, options);
  }

  @Command(name = "claim", description = "What is decided about the pods that use a ResourceClaim.",
      mixinStandardHelpOptions = true, sortOptions = false,
      footer = {"", "Example:", "  partita explain claim train-gpu-x7k2p -n team-a"})
  void claim(@Parameters(paramLabel = "NAME", description = "The ResourceClaim.") String name, @Mixin Options options) {
    explain(Question.Kind.CLAIM, name, options);
  }

  private void explain(Question.Kind kind, String name, Options options) {
    try (KubernetesClient client = options.cluster.client()) {
      Question question = new Question(kind, options.namespace.of(client), ObjectName.checked(name));
      List<PodExplanation> pods = new ControllerPort(client, options.partita.name()).ask(question);
      PrintWriter out = spec.commandLine().getOut();
      out.print(options.output.text(pods, () -> ExplanationText.of(question, pods)));
      out.flush();
    }
  }
}
