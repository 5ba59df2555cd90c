package dev.partita.controller.decide;

import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.turns.AlikePods;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Decides about one pod, without doing anything about it. */
public interface Decider {
  /** What is found out about a pod before a place is looked for. */
  sealed interface Reading {
    /** No place is to be looked for. */
    record Decided(Decision decision) implements Reading {}

    /**
     * A place is to be looked for.
     *
     * @param allocatedElsewhere where its allocated claims let it run
     * @param unused allocated claims that only it names, and that nobody uses
     * @param claims those without an allocation, by UID
     * @param requests what these ask for, in the same order
     * @param named how many claims it names
     */
    record Open(
        List<NodeSelector> allocatedElsewhere,
        List<ResourceClaim> unused,
        Map<String, ResourceClaim> claims,
        List<ClaimRequest> requests,
        int named)
        implements Reading {}
  }

  /**
   * What can be said of the pod without looking for a place.
   *
   * @param placed claims that count as allocated, by UID, and on which node
   */
  Reading read(Pod pod, Map<String, String> placed);

  /**
   * What to do about the pod.
   *
   * @param beside what counts besides what there is
   * @param alike what is known of pods that found no place, if that is to be believed of this one
   */
  Decision decide(Pod pod, Inventory inventory, Instant now, Beside beside, Optional<AlikePods> alike);

  /** Forgets what is kept for the next decision, after one ended in the middle. */
  void forgetSearches();
}
