package dev.partita.cli.doctor;

import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.PartitaNamespaceOption;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code partita doctor}. */
@Command(
    name = "doctor",
    description = {
      "Checks the cluster, Partita's installation, every node with its plugin and your own rights, and says for each failure how to mend it.",
      "",
      "Everything is read from the API with your rights, and nothing is changed. What you may not see is told as such; without the rights to see the "
          + "nodes' cards and plugins it fails. Nodes that are well are summed up; -o wide shows each."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:nothing failed", "1:a check failed, or no API server answers",
      "2:it was asked for in a wrong way"},
    footer = {
      "",
      "Examples:",
      "  partita doctor",
      "  partita doctor --context production -o json"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private final OutputOption output = new OutputOption();

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Mixin private final PartitaNamespaceOption partita = new PartitaNamespaceOption();

  @Override
  public Integer call() {
    try (KubernetesClient client = cluster.client()) {
      Diagnosis diagnosis =
          Diagnosis.of(new SnapshotReader(client, partita.name(), Clock.systemUTC()).read());
      PrintWriter out = spec.commandLine().getOut();
      out.print(output.text(DiagnosisText.document(diagnosis),
          () -> DiagnosisText.of(diagnosis, output.format() == OutputFormat.WIDE)));
      out.flush();
      return diagnosis.count(Verdict.FAIL) > 0 ? 1 : 0;
    }
  }
}
