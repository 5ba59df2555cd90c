package dev.partita.cli.explain;

import dev.partita.cli.output.Counted;
import dev.partita.cli.output.Printable;
import dev.partita.controller.explain.PodExplanation.AlikeNodes;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Explanations for people to read. They quote what tenants wrote into pods and claims. */
final class ExplanationText {
  private static final int MOST_NAMES = 20;

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
          case LeftOut -> "left out";
        };
    StringBuilder text =
        new StringBuilder(
            Printable.text("pod " + pod.namespace() + "/" + pod.pod() + " is " + word + ": " + pod.summary())
                + "\n");
    for (AlikeNodes node : pod.alike()) {
      text.append("%n%s: %s%n".formatted(which(node), Printable.text(node.reason())));
      if (node.nodes().size() > 1) {
        text.append("  ").append(names(node.nodes())).append('\n');
      }
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

  private static String which(AlikeNodes alike) {
    int nodes = alike.nodes().size();
    String cards = Counted.of(alike.cards(), "card");
    return nodes == 1 ? alike.nodes().getFirst() + " (" + cards + ")" : nodes + " nodes (" + cards + " each)";
  }

  private static String names(List<String> nodes) {
    String first = nodes.stream().limit(MOST_NAMES).collect(Collectors.joining(", "));
    return nodes.size() <= MOST_NAMES
        ? first
        : first + " and " + (nodes.size() - MOST_NAMES) + " more, which -o json names";
  }
}
