package dev.partita.controller.explain;

import java.util.List;

/** The answer to a {@link Question}. */
public sealed interface Answer {
  /**
   * It is known.
   *
   * @param pods the pod, or those that use the claim: none if nobody does; where they are too many, the last one is
   *        {@link PodExplanation.State#LeftOut}
   */
  record Explained(List<PodExplanation> pods) implements Answer {
    public Explained {
      pods = List.copyOf(pods);
    }
  }

  /** There is no such object. */
  record Unknown() implements Answer {}

  /** Another instance decides, and only that one knows. */
  record NotLeading() implements Answer {}
}
