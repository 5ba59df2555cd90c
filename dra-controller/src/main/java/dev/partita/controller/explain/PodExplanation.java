package dev.partita.controller.explain;

import java.util.Collections;
import java.util.List;
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
    LeftToScheduler
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
}
