package dev.partita.controller.decide;

import dev.partita.controller.state.PodPlan;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/** What to do about the pods of a gang, as many of which as there must be need their places. */
public sealed interface GangDecision {
  /** As many as need one have their place, which is assumed; pods that are settled by claims of others need none. */
  record Placed(List<PodPlan> plans) implements GangDecision {
    public Placed {
      plans = List.copyOf(plans);
    }
  }

  /**
   * Nothing is assumed: as many as need a place may have one, but one of them is kube-scheduler's, which knows no
   * gangs.
   */
  record LeaveToScheduler() implements GangDecision {}

  /**
   * Nothing is assumed.
   *
   * @param pod the first that has no place beside those before it
   * @param decision what to do about that pod
   */
  record NoPlace(Pod pod, Decision decision) implements GangDecision {}
}
