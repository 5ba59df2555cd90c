package dev.partita.cli.whatif;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.Counted;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import dev.partita.cli.output.Sheet;
import dev.partita.controller.whatif.AddedNodes;
import dev.partita.controller.whatif.ClusterSnapshot;
import dev.partita.controller.whatif.PodOutcome;
import dev.partita.controller.whatif.WhatIf;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita simulate add-nodes}. */
@Command(
    name = "add-nodes",
    description = {
      "Says which waiting pods would run if nodes were added.",
      "",
      "The controller's own allocator decides about every waiting pod, the most urgent first, with the cluster as it is and with the nodes. The "
          + "added nodes are as the cluster's node with such cards is: labels, taints, CPU and memory. Where such nodes differ, --like names the one. "
          + "Where there is none, CPU and memory do not run out on them, and the card's memory must be said. Nobody is evicted."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita simulate add-nodes 2xH200x8",
      "  partita simulate add-nodes 2xH200x8 --like node-7",
      "  partita simulate add-nodes 2xL40Sx8:45Gi 1xH200x8 --snapshot monday.json"
    })
public final class AddNodesCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "NODES", arity = "1..*",
      description = "COUNTxMODELxCARDS, such as 2xL40Sx8; with :MEMORY of a card, such as 2xL40Sx8:45Gi.") private List<String> nodes =
          List.of();

  @Option(names = "--like", paramLabel = "NODE",
      description = "The node whose labels, taints, CPU and memory the added ones have (default: one with such cards).") private @Nullable String like;

  @Mixin private final OutputOption output = new OutputOption();

  @Mixin private final SnapshotOptions snapshot = new SnapshotOptions();

  @Override
  public void run() {
    List<AddedNodes> added = nodes.stream().map(RequestText::nodes).toList();
    ClusterSnapshot now = snapshot.read();
    List<PodOutcome> before = new WhatIf(now).placeWaiting();
    List<PodOutcome> after = new WhatIf(with(now, added, likeOf(now))).placeWaiting();
    PrintWriter out = spec.commandLine().getOut();
    out.print(text(before, after));
    out.flush();
  }

  private Optional<String> likeOf(ClusterSnapshot snapshot) {
    Optional<String> named = Optional.ofNullable(like);
    if (!named.map(snapshot::hasNode).orElse(true)) {
      throw CommandFailure.usage("--like: there is no node " + like);
    }
    return named;
  }

  private static ClusterSnapshot with(ClusterSnapshot snapshot, List<AddedNodes> added, Optional<String> like) {
    ClusterSnapshot larger = snapshot;
    for (AddedNodes nodes : added) {
      try {
        larger = nodes.to(larger, like);
      } catch (IllegalArgumentException e) {
        throw CommandFailure.usage(e.getMessage() + ", as in " + nodes.nodes() + "x" + nodes.model() + "x"
            + nodes.cards() + ":45Gi");
      }
    }
    return larger;
  }

  private String text(List<PodOutcome> before, List<PodOutcome> after) {
    Map<String, PodOutcome> now = new HashMap<>();
    before.forEach(outcome -> now.put(outcome.pod().getMetadata().getUid(), outcome));
    Sheet sheet =
        new Sheet(Column.of("namespace", "NAMESPACE"), Column.of("pod", "POD"), Column.of("now", "NOW"),
            Column.of("with", "WITH-THEM"), Column.of("why", "WHY-NOT"));
    for (PodOutcome outcome : after) {
      sheet.row(
          Cell.text(outcome.pod().getMetadata().getNamespace()), Cell.text(outcome.pod().getMetadata().getName()),
          Cell.text(word(now.getOrDefault(outcome.pod().getMetadata().getUid(), outcome))), Cell.text(word(outcome)),
          Cell.text(outcome instanceof PodOutcome.Waits waits ? waits.why() : ""));
    }
    long runNow = runs(before);
    long runThen = runs(after);
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("waiting", after.size());
    document.put("runNow", runNow);
    document.put("runWithThem", runThen);
    document.put("items", sheet.items());
    return output.text(document, () -> (sheet.isEmpty() ? "" : sheet.table(output.format() == OutputFormat.WIDE) + "\n")
        + Counted.waiting(after.size()) + "; " + runNow + " would run as it is, " + runThen
        + " with the added nodes\n");
  }

  private static long runs(List<PodOutcome> outcomes) {
    return outcomes.stream().filter(PodOutcome.Runs.class::isInstance).count();
  }

  private static String word(PodOutcome outcome) {
    return switch (outcome) {
      case PodOutcome.Runs runs -> runs.node();
      case PodOutcome.Waits _ -> "waits";
    };
  }
}
