package dev.partita.cli.whatif;

import dev.partita.api.Bytes;
import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.Counted;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import dev.partita.cli.output.Sheet;
import dev.partita.cli.rightsizing.RightSizing.Oversized;
import dev.partita.cli.rightsizing.RightSizing;
import dev.partita.cli.rightsizing.SizingOptions;
import dev.partita.cli.rightsizing.SizingRule;
import dev.partita.controller.whatif.ClusterSnapshot;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code partita simulate shrink}. */
@Command(
    name = "shrink",
    description = {
      "Says which shares are far larger than what they ever used, and which waiting pods could run if these were smaller.",
      "",
      "What holds too much, and how much it should hold, is what 'partita report' says. The controller's own allocator says which pods would run "
          + "then; of the shares it takes as few as it can, the largest gain first. Nothing is resized: 'partita resize claim' does that. Pods of gangs "
          + "are left out, and nobody is evicted."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita simulate shrink",
      "  partita simulate shrink --min-age 7d --below 50 --snapshot monday.json"
    })
public final class ShrinkCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Mixin private final SizingOptions sizing = new SizingOptions();

  @Mixin private final OutputOption output = new OutputOption();

  @Mixin private final SnapshotOptions snapshot = new SnapshotOptions();

  @Override
  public void run() {
    SizingRule rule = sizing.rule();
    ClusterSnapshot now = snapshot.read();
    ShrinkPlan plan = ShrinkPlan.of(now, RightSizing.of(now.claims(), rule, now.time()));
    PrintWriter out = spec.commandLine().getOut();
    out.print(text(plan));
    out.flush();
  }

  private String text(ShrinkPlan plan) {
    Sheet sheet =
        new Sheet(Column.of("podNamespace", "NAMESPACE"), Column.of("pod", "WAITING-POD"), Column.of("node", "NODE"),
            Column.of("claim", "CLAIM-TO-SHRINK"), Column.of("memory", "MEMORY"), Column.of("peak", "PEAK"),
            Column.of("proposed", "PROPOSED"), Column.wide("gpu", "GPU"));
    for (ShrinkPlan.Helped helped : plan.helped()) {
      helped.shrunk().forEach(share -> row(sheet, helped, share));
    }
    long gain = plan.shrunk().stream().mapToLong(Oversized::gain).sum();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("waiting", plan.waiting());
    document.put("runNow", plan.runAnyway());
    document.put("runThen", plan.runAnyway() + plan.helped().size());
    document.put("freedMemory", gain);
    document.put("items", sheet.items());
    boolean one = plan.shrunk().size() == 1;
    return output.text(document, () -> (sheet.isEmpty() ? "" : sheet.table(output.format() == OutputFormat.WIDE) + "\n")
        + Counted.waiting(plan.waiting()) + ", " + plan.runAnyway() + " would run as it is; " + plan.helped().size()
        + " more if " + Counted.of(plan.shrunk().size(), "share") + (one ? " was" : " were") + " smaller by "
        + Bytes.words(gain) + (one ? "" : " together") + "\n");
  }

  private static void row(Sheet sheet, ShrinkPlan.Helped helped, Oversized share) {
    sheet.row(
        Cell.text(helped.pod().getMetadata().getNamespace()), Cell.text(helped.pod().getMetadata().getName()),
        Cell.text(helped.node()), Cell.text(share.device().claimName()),
        Cell.memory(share.device().booking().memory()), Cell.memory(share.peak()), Cell.memory(share.proposed()),
        Cell.text("gpu-" + share.device().booking().card().index()));
  }
}
