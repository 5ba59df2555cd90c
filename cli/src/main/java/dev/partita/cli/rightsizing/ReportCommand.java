package dev.partita.cli.rightsizing;

import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.NamespacesOption;
import dev.partita.cli.fleet.FleetReader;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import dev.partita.cli.output.Sheet;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code partita report}. */
@Command(
    name = "report",
    description = {
      "Lists shares whose peak stayed far below the memory that they hold, how much they should hold, and what the fleet would gain.",
      "",
      "The peak is what the nodes' plugins wrote into the claims (status.devices[].data.memoryPeak). Shares of a claim that was allocated not long "
          + "ago are left out: they may not have shown what they need. Whole cards and MIG instances are not measured."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita report -A",
      "  partita report -n team-a --min-age 7d --below 50",
      "  partita report -A -o json"
    })
public final class ReportCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Mixin private final NamespacesOption namespaces = new NamespacesOption();

  @Mixin private final OutputOption output = new OutputOption();

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Mixin private final SizingOptions sizing = new SizingOptions();

  @Override
  public void run() {
    SizingRule rule = sizing.rule();
    try (KubernetesClient client = cluster.client()) {
      RightSizing report =
          RightSizing.of(new FleetReader(client).claims(namespaces.of(client)), rule, Instant.now());
      Sheet sheet = ReportText.sheet(report);
      PrintWriter out = spec.commandLine().getOut();
      out.print(output.text(ReportText.document(report, sheet),
          () -> ReportText.table(report, sheet, rule.minAge(), output.format() == OutputFormat.WIDE)));
      out.flush();
    }
  }
}
