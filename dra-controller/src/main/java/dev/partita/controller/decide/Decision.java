package dev.partita.controller.decide;

import dev.partita.controller.state.PodPlan;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** What to do about a pod. */
public sealed interface Decision {
  /** There is nothing for the controller to do, or it must wait for something that an event will tell. */
  record Nothing() implements Decision {}

  /**
   * kube-scheduler allocates on every node that the pod could run on; a node on which the controller allocates may come
   * later.
   *
   * @param claims those that it is to allocate
   */
  record LeaveToScheduler(List<ResourceClaim> claims) implements Decision {
    public LeaveToScheduler {
      claims = List.copyOf(claims);
    }
  }

  /**
   * None of its claims is left for the controller to allocate: those of ours are allocated.
   *
   * @param node where it will run, if the allocations say so
   */
  record Settled(Optional<String> node) implements Decision {}

  /**
   * A claim that it refers to does not exist, was not yet made from its template, or is being deleted.
   *
   * @param unused other claims of the pod with an allocation, or a proposal, that nobody uses: to be given back
   */
  record ClaimMissing(List<ResourceClaim> unused) implements Decision {
    public ClaimMissing {
      unused = List.copyOf(unused);
    }
  }

  /**
   * Scheduling gates of others keep the pod from running. It gets nothing, which somebody else could use.
   *
   * @param gates their names
   * @param unused claims of the pod that are allocated already, which nobody uses: to be given back likewise
   */
  record HeldBack(List<String> gates, List<ResourceClaim> unused) implements Decision {
    public HeldBack {
      gates = List.copyOf(gates);
      unused = List.copyOf(unused);
    }
  }

  /** Write this. */
  record Allocate(PodPlan plan) implements Decision {}

  /**
   * No node will do now.
   *
   * @param claims those that wait
   * @param unused claims of the pod that are allocated already, which nobody uses: to be given back, for half a pod's
   *        claims help nobody
   * @param dryRun whether a host would do if something else had changed
   * @param newNode whether one more node would do; it is looked for when that is asked
   */
  record Wait(
      List<ResourceClaim> claims,
      List<ResourceClaim> unused,
      WhyWaiting why,
      DryRun dryRun,
      Supplier<NewNode> newNode)
      implements Decision {}

  /**
   * Some claims can never be allocated as they stand.
   *
   * @param unused other claims of the pod with an allocation, or a proposal, that nobody uses: to be given back
   */
  record Refuse(Map<ResourceClaim, List<String>> problems, List<ResourceClaim> unused) implements Decision {
    public Refuse {
      unused = List.copyOf(unused);
    }
  }
}
