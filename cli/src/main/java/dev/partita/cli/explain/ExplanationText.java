package dev.partita.cli.explain;

import dev.partita.cli.output.Printable;
import dev.partita.controller.explain.PodExplanation.NodeReason;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Explanations for people to read. They quote what tenants wrote into pods and claims. */
final class ExplanationText {
  private ExplanationText() {}

  static String of(Question question, List<PodExplanation> pods) {
    return pods.isEmpty()
        ? question + ": no pod uses it; a claim is allocated once a pod does\n"
        : pods.stream().map(ExplanationText::of).collect(Collectors.joining("\n"));
  }

  private static String of(PodExplanation pod) {
    String word =
        switch (pod.state()) {
          case Over -> "over";
          case ClaimMissing -> "not looked at yet";
          case Refused -> "refused";
          case Waiting -> "waiting";
          case Placed -> "placed";
          case Settled -> "settled";
          case LeftToScheduler -> "left to kube-scheduler";
        };
    StringBuilder text =
        new StringBuilder(
            Printable.text("pod " + pod.namespace() + "/" + pod.pod() + " is " + word + ": " + pod.summary())
                + "\n");
    for (NodeReason node : pod.nodes()) {
      text.append("%n%s (%d %s): %s%n".formatted(node.node(), node.cards(), node.cards() == 1 ? "card" : "cards",
          Printable.text(node.reason())));
      int width = node.byCard().keySet().stream().mapToInt(String::length).max().orElse(0);
      node.byCard().entrySet().stream()
          .sorted(Comparator.<java.util.Map.Entry<String, String>>comparingInt(card -> card.getKey().length())
              .thenComparing(card -> card.getKey()))
          .forEach(card -> text.append("  ").append(card.getKey())
              .append(" ".repeat(width - card.getKey().length() + 2)).append(Printable.text(card.getValue()))
              .append('\n'));
    }
    return text.toString();
  }
}
