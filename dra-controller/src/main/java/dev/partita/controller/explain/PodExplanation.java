package dev.partita.controller.explain;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How a pod stands with the controller, as if it were decided about now.
 *
 * @param namespace the pod's
 * @param pod its name
 * @param state in one word
 * @param summary for people, in one line
 * @param nodes where it waits, every node with cards and why it will not do; else none
 */
public record PodExplanation(String namespace, String pod, State state, String summary, List<NodeReason> nodes) {
  public PodExplanation {
    nodes = List.copyOf(nodes);
  }

  /** The constants are spelt as they are in JSON. */
  public enum State {
    /** It is over, or being deleted. */
    Over,
    /** A claim of it is not there yet. */
    ClaimMissing,
    /** A claim of it can never be allocated as it stands. */
    Refused,
    /** No node will do now. */
    Waiting,
    /** There is a place for it, which is being written or about to be. */
    Placed,
    /** Nothing of it is left for the controller to allocate. */
    Settled,
    /** kube-scheduler allocates wherever it could run. */
    LeftToScheduler,
    /** A claim was asked about that more pods use than are explained at once: it, and others, were not looked at. */
    LeftOut
  }

  /**
   * Why a node will not do.
   *
   * @param node name
   * @param cards how many it has
   * @param reason what speaks against the node, or which request finds too few cards there
   * @param byCard where it is the cards: every one that does not fit, by its device name, and the first reason that
   *        excludes it
   */
  public record NodeReason(String node, int cards, String reason, SortedMap<String, String> byCard) {
    public NodeReason {
      byCard = Collections.unmodifiableSortedMap(new TreeMap<>(byCard));
    }
  }

  /**
   * Nodes of which the same is to be said.
   *
   * @param nodes their names, in order
   * @param cards how many each of them has
   * @param reason as {@link NodeReason} has it
   * @param byCard as {@link NodeReason} has it
   */
  public record AlikeNodes(List<String> nodes, int cards, String reason, SortedMap<String, String> byCard) {
    public AlikeNodes {
      nodes = List.copyOf(nodes);
    }
  }

  /**
   * The nodes, and those together of which the same is to be said. First come those whose cards were looked at: of all
   * others something was known before that rules them out.
   */
  public List<AlikeNodes> alike() {
    Map<NodeReason, List<String>> names = new LinkedHashMap<>();
    for (NodeReason node : nodes) {
      names.computeIfAbsent(new NodeReason("", node.cards(), node.reason(), node.byCard()), _ -> new ArrayList<>())
          .add(node.node());
    }
    return names.entrySet().stream()
        .map(entry -> new AlikeNodes(entry.getValue().stream().sorted().toList(), entry.getKey().cards(),
            entry.getKey().reason(), entry.getKey().byCard()))
        .sorted(Comparator.comparing(alike -> alike.byCard().isEmpty())).toList();
  }
}
