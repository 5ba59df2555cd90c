package dev.partita.controller.whatif;

import dev.partita.controller.state.PodPlan;
import io.fabric8.kubernetes.api.model.Pod;

/** What would become of a pod that waits. */
public sealed interface PodOutcome {
  /** The pod. */
  Pod pod();

  /** It would get this. */
  record Runs(Pod pod, PodPlan plan) implements PodOutcome {
    /** The node that it would run on. */
    public String node() {
      return plan.outcome().node();
    }
  }

  /**
   * It would go on waiting.
   *
   * @param why for people
   */
  record Waits(Pod pod, String why) implements PodOutcome {}
}
