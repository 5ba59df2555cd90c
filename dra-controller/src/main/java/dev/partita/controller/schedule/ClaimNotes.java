package dev.partita.controller.schedule;

import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.WhyWaiting;
import dev.partita.controller.events.AllocatedCondition;
import dev.partita.controller.events.ClaimEvent;
import dev.partita.controller.events.ClaimEvents;
import dev.partita.controller.events.PodConditions;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Tells people what became of claims, in events on them and in the log, and of pods, in their conditions. */
public final class ClaimNotes {
  /** Characters below which a summary says nothing. */
  private static final int LEAST_EXPLANATION = 40;

  private final ClaimEvents events;
  private final PodConditions conditions;

  public ClaimNotes(ClaimEvents events, PodConditions conditions) {
    this.events = events;
    this.conditions = conditions;
  }

  void refused(Pod pod, Map<ResourceClaim, List<String>> problems) {
    conditions.tell(pod, AllocatedCondition.refused(words(problems)));
    problems.forEach(
        (claim, words) -> tell(ClaimReader.ref(claim), ClaimEvent.Reason.Unallocatable, String.join("; ", words)));
  }

  void waiting(Pod pod, Decision.Wait wait) {
    String summary = wait.why().summary(WhyWaiting.MAX_EXPLANATION);
    conditions.tell(pod, AllocatedCondition.waits(summary));
    Optional<ClaimRef> fault = wait.why().claimAtFault();
    for (ResourceClaim claim : wait.claims()) {
      ClaimRef ref = ClaimReader.ref(claim);
      boolean other = fault.isPresent() && !fault.get().equals(ref);
      tell(ref, ClaimEvent.Reason.Unallocatable,
          other ? "waits for claim " + fault.get().name() + " of the same pod: " + summary : summary);
    }
  }

  void waiting(Pod pod, List<ResourceClaim> claims, String why) {
    conditions.tell(pod, AllocatedCondition.waits(why));
    claims.forEach(claim -> tell(ClaimReader.ref(claim), ClaimEvent.Reason.Unallocatable, why));
  }

  /** The pod could not be decided about, and is left alone for a while. */
  void setAside(Pod pod, List<ResourceClaim> claims, String why) {
    waiting(pod, claims, "could not be decided: " + why + "; it is tried again later, and nobody waits for it");
  }

  /**
   * Others are evicted for the pod, and why it waits.
   *
   * @param words who is evicted
   */
  void preempting(Pod pod, Decision.Wait wait, String words) {
    int room = WhyWaiting.MAX_EXPLANATION - words.length() - 2;
    preempting(pod, wait.claims(), room < LEAST_EXPLANATION ? words : words + "; " + wait.why().summary(room));
  }

  /** Others are evicted for the pod: that is said even if it has its place a moment later. */
  void preempting(Pod pod, List<ResourceClaim> claims, String why) {
    conditions.tell(pod, AllocatedCondition.waits(why));
    claims.forEach(
        claim -> events.tell(new ClaimEvent(ClaimReader.ref(claim), ClaimEvent.Reason.Unallocatable, why, true)));
  }

  public void allocated(ClaimPlacement placement, String node) {
    String words = placement.devices().stream().map(device -> words(device, node)).collect(Collectors.joining("; "));
    tell(placement.claim(), ClaimEvent.Reason.Allocated, words);
  }

  /** Nothing of the pod is left to allocate. */
  void settled(Pod pod, Optional<String> node) {
    conditions.tell(pod, AllocatedCondition.done(node.map(name -> "on " + name).orElse("by other allocators")));
  }

  /** Why the pod waited does not hold any more, for a claim of it is missing. */
  void claimMissing(Pod pod) {
    conditions.tell(pod, AllocatedCondition.claimMissing());
  }

  void leftToScheduler(Pod pod) {
    conditions.tell(pod, AllocatedCondition.notOurs());
  }

  /** What is wrong with claims, in one line. */
  public static String words(Map<ResourceClaim, List<String>> problems) {
    return problems.entrySet().stream()
        .map(claim -> "claim " + claim.getKey().getMetadata().getName() + ": " + String.join("; ", claim.getValue()))
        .collect(Collectors.joining("; "));
  }

  private void tell(ClaimRef claim, ClaimEvent.Reason reason, String note) {
    events.tell(new ClaimEvent(claim, reason, note));
  }

  private static String words(DevicePlacement placement, String node) {
    Card card = placement.device().card();
    return placement.device().name() + " on " + node + ": " + placement.given().use()
        .words(card.gpu().productName() + " " + card.gpu().uuid(), placement.given(),
            placement.request().oversubscribe());
  }
}
