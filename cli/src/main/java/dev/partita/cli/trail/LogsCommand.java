package dev.partita.cli.trail;

import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.NamespaceOption;
import dev.partita.cli.connection.ObjectName;
import dev.partita.cli.connection.PartitaNamespaceOption;
import dev.partita.cli.output.OutputOption;
import dev.partita.cli.output.Printable;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita logs}. */
@Command(
    name = "logs",
    description = {
      "Shows what happened to a ResourceClaim, by time: events of the claim and its pods, since when their conditions are as they are, and the lines "
          + "of the controllers' and the node plugin's logs that name them.",
      "",
      "Reading logs needs the right to list pods and to get pods/log in the namespace of Partita. What cannot be read is told on stderr, and the "
          + "rest is shown."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita logs train-gpu-x7k2p -n team-a",
      "  partita logs train-gpu-x7k2p -n team-a -o json"
    })
public final class LogsCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "CLAIM", description = "The ResourceClaim.") private String claim = "";

  @Mixin private final NamespaceOption namespace = new NamespaceOption();

  @Mixin private final OutputOption output = new OutputOption();

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Mixin private final PartitaNamespaceOption partita = new PartitaNamespaceOption();

  @Override
  public void run() {
    PrintWriter err = spec.commandLine().getErr();
    try (KubernetesClient client = cluster.client()) {
      List<Entry> entries =
          new TrailReader(client, partita.name(), note -> err.println("partita: " + Printable.text(note)))
              .read(namespace.of(client), ObjectName.checked(claim));
      PrintWriter out = spec.commandLine().getOut();
      out.print(output.text(Map.of("items", entries.stream().map(LogsCommand::item).toList()),
          () -> entries.stream().map(LogsCommand::line).collect(Collectors.joining())));
      out.flush();
    }
  }

  private static Map<String, Object> item(Entry entry) {
    Map<String, Object> item = new LinkedHashMap<>();
    item.put("time", entry.time().toString());
    item.put("source", entry.source());
    item.put("text", entry.text());
    return item;
  }

  static String line(Entry entry) {
    return entry.time() + "  " + Printable.text(entry.source()) + "  " + Printable.text(entry.text()) + "\n";
  }
}
