package dev.partita.controller.decide;

import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.turns.AlikePods;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;

/**
 * What to do about each pod, which goes before what is kept for pods of lower priority, and gets what is kept for
 * itself. For one thread.
 */
public final class PodDecisions {
  private final Decider decider;
  private final SchedulerState state;
  private final Clock clock;

  /** @param clock cannot be set, unlike the time of day */
  public PodDecisions(Decider decider, SchedulerState state, Clock clock) {
    this.decider = decider;
    this.state = state;
    this.clock = clock;
  }

  /** What can be said of the pod without looking for a place. */
  public Decider.Reading read(Pod pod) {
    return decider.read(pod, Map.of());
  }

  /**
   * What to do about the pod; nothing is done.
   *
   * @param placed claims that count as allocated, by UID, and on which node
   */
  public Decision of(Pod pod, Inventory inventory, Map<String, String> placed) {
    return of(pod, inventory, placed, Optional.empty());
  }

  /**
   * The same of one pod by itself.
   *
   * @param alike what is known of pods that found no place, if that is to be believed of this one
   */
  public Decision of(Pod pod, Inventory inventory, Optional<AlikePods> alike) {
    return of(pod, inventory, Map.of(), alike);
  }

  private Decision of(Pod pod, Inventory inventory, Map<String, String> placed, Optional<AlikePods> alike) {
    try (var _ = state.withoutNominations(pod)) {
      return decider.decide(pod, inventory, clock.instant(), placed, alike);
    }
  }

  /** A decision ended where it could not put right what it had begun. */
  public void forgetSearches() {
    decider.forgetSearches();
  }
}
