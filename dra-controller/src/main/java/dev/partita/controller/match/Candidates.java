package dev.partita.controller.match;

import dev.partita.controller.inventory.GpuHost;
import java.util.Optional;

/**
 * Says which nodes one pod cannot use for reasons other than their cards, such as a taint, too little CPU or a quota. A
 * decision asks it only about nodes that it looks at.
 */
@FunctionalInterface
public interface Candidates {
  /**
   * Why the pod cannot use the node, whatever its cards are, for people; empty if it can. In one decision the answer is
   * always the same.
   */
  Optional<String> refusal(GpuHost host);
}
