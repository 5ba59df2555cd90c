package dev.partita.cli.whatif;

import dev.partita.cli.connection.ObjectName;
import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import dev.partita.cli.output.Printable;
import dev.partita.cli.output.Sheet;
import dev.partita.controller.whatif.RequestedCards;
import dev.partita.controller.whatif.WhatIf;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita simulate fits}. */
@Command(
    name = "fits",
    description = {
      "Says what would fit now: the largest share and the free whole cards of each model, or how many pods of a request and on which nodes.",
      "",
      "The controller's own allocator answers, for pods on paper. They request no CPU and no memory of their node, and tolerate the taints that its "
          + "administrators gave it. Quotas of the namespace count; what other pods still wait for does not."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita simulate fits",
      "  partita simulate fits --request memory=8Gi,cores=25,model=h200",
      "  partita simulate fits --snapshot monday.json --request count=4"
    })
public final class FitsCommand implements Runnable {
  private static final int MOST = 100_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--request",
      paramLabel = "NAME=VALUE,...",
      description = "What each pod asks for: memory (8Gi) and cores (percent) of a card, model, count (cards of one node; default 1). Without memory and cores: whole cards.") private Optional<String> request =
          Optional.empty();

  @Option(names = {"-n", "--namespace"}, paramLabel = "NAME", defaultValue = "default",
      description = "Namespace whose quotas count. Default: ${DEFAULT-VALUE}.") private String namespace = "";

  @Mixin private final OutputOption output = new OutputOption();

  @Mixin private final SnapshotOptions snapshot = new SnapshotOptions();

  @Override
  public void run() {
    String checked = ObjectName.checked(namespace);
    Optional<RequestedCards> asked = request.map(text -> RequestText.request(text, checked));
    WhatIf cluster = new WhatIf(snapshot.read());
    PrintWriter out = spec.commandLine().getOut();
    out.print(asked.isPresent() ? fits(cluster.fits(asked.get(), MOST)) : rooms(cluster));
    out.flush();
  }

  private String rooms(WhatIf cluster) {
    Sheet sheet =
        new Sheet(Column.of("model", "MODEL"), Column.of("cards", "CARDS"), Column.of("wholeFree", "WHOLE-FREE"),
            Column.of("largestShare", "LARGEST-SHARE"), Column.of("coresFree", "CORES-FREE"),
            Column.of("node", "NODE"));
    for (ModelRoom room : ModelRoom.of(cluster, namespace)) {
      Optional<ModelRoom.Largest> largest = room.largest();
      sheet.row(
          Cell.text(room.model()), Cell.count(room.cards()), Cell.count(room.wholeFree()),
          new Cell.Memory(largest.map(share -> OptionalLong.of(share.memory())).orElse(OptionalLong.empty())),
          Cell.percent(largest.map(share -> OptionalLong.of(share.cores())).orElse(OptionalLong.empty())),
          Cell.text(largest.map(ModelRoom.Largest::node).orElse("")));
    }
    return output.text(Map.of("items", sheet.items()),
        () -> sheet.isEmpty() ? "there are no cards\n" : sheet.table(output.format() == OutputFormat.WIDE));
  }

  private String fits(WhatIf.Fits fits) {
    Sheet sheet = new Sheet(Column.of("node", "NODE"), Column.of("pods", "PODS"));
    fits.byNode().forEach((node, pods) -> sheet.row(Cell.text(node), Cell.count(pods)));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("pods", fits.all());
    document.put("items", sheet.items());
    document.put("whyNoMore", fits.whyNoMore());
    return output.text(document,
        () -> (sheet.isEmpty() ? "" : sheet.table(false) + "\n") + fits.all() + " would fit; then: "
            + Printable.text(fits.whyNoMore())
            + "\n");
  }
}
