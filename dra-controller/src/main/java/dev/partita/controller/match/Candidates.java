package dev.partita.controller.match;

import dev.partita.controller.inventory.GpuHost;
import java.util.Optional;

/** Says what speaks against a node for one pod. It is asked only about nodes that come into question. */
@FunctionalInterface
public interface Candidates {
  /**
   * Why the pod cannot use the node, whatever its cards are, for people; empty if it can. In one decision the answer is
   * always the same.
   */
  Optional<String> refusal(GpuHost host);
}
