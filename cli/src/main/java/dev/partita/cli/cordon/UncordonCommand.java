package dev.partita.cli.cordon;

import dev.partita.cli.connection.ClusterOptions;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita uncordon}. */
@Command(
    name = "uncordon",
    description = {
      "Allows claims to get cordoned cards again, which undoes 'partita cordon'.",
      "",
      "The cards stand in spec.cordoned of their GpuNode, which needs the right to patch gpunodes. Their devices get the taint "
          + "gpu.partita.dev/cordoned:NoSchedule; a claim that tolerates it gets them all the same. For all cards of a node there is kubectl uncordon."
    },
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  partita uncordon gpu gpu-node-7/3",
      "  partita uncordon gpu GPU-5c1f5e0a-5f0e-4c1b-9a43-1f0f7c6f2a11"
    })
public final class UncordonCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "what to uncordon is missing: 'gpu'");
  }

  @Command(name = "gpu", aliases = "gpus",
      description = "Allows claims to get cordoned cards again, which undoes 'partita cordon'.",
      mixinStandardHelpOptions = true, sortOptions = false,
      footer = {"", "Example:", "  partita uncordon gpu gpu-node-7/3"})
  void gpu(
      @Parameters(paramLabel = "CARD", arity = "1..*",
          description = "NODE/INDEX, such as gpu-node-7/3, or a UUID.") List<String> cards,
      @Mixin ClusterOptions cluster) {
    Cordoning.carryOut(Cordoning.Wish.UNCORDON, cards, cluster, spec.commandLine().getOut());
  }
}
