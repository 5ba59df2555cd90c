package dev.partita.controller.preempt;

import dev.partita.api.Annotations;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.state.Victim;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Pods of one node whose end would free cards, or will.
 *
 * @param victims pods that may go, and that use no claim that another pod, which may not, uses as well
 * @param users of every claim that can be freed, by the claim's UID: it is free when all of them are gone; none of one
 *        whose users have all ended
 */
record VictimsOnNode(String node, Map<Victim, Pod> victims, Map<String, Set<String>> users) {
  private static final String MIRROR = "kubernetes.io/config.mirror";

  /** Pods that may go. */
  static VictimsOnNode of(ClusterObjects view, String node, Predicate<Pod> mayGo) {
    return of(view, node, PodClaims::isLive, mayGo, _ -> false);
  }

  /**
   * Pods that are being deleted already, and the claims of pods that have ended or are gone, which
   * kube-controller-manager frees.
   *
   * @param counts whether such a pod counts
   * @param isFreed whether a claim counts that a pod which has ended, or is gone, has reserved; asked of each such
   *        claim, whoever uses it besides
   */
  static VictimsOnNode going(
      ClusterObjects view,
      String node,
      Predicate<Pod> counts,
      Predicate<ResourceClaim> isFreed) {
    return of(view, node, pod -> PodClaims.isLive(pod) || isGoing(pod), pod -> isGoing(pod) && counts.test(pod),
        isFreed);
  }

  private static boolean isGoing(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() != null;
  }

  /**
   * @param uses whether a pod may use its claims still; of others it matters only whether something is reserved
   * @param isFreed whether that they are reserved does not matter either, where they have ended or are gone
   */
  private static VictimsOnNode of(
      ClusterObjects view,
      String node,
      Predicate<Pod> uses,
      Predicate<Pod> mayGo,
      Predicate<ResourceClaim> isFreed) {
    Map<Victim, Pod> victims = new LinkedHashMap<>();
    Map<String, Set<String>> users = new HashMap<>();
    for (ResourceClaim claim : view.claimsOn(node)) {
      if (!AllocatedClaim.isAllocated(claim)) {
        continue;
      }
      List<Pod> pods = view.podsOf(ObjectKey.of(claim)).stream().filter(uses).toList();
      Set<String> known = pods.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
      List<ResourceClaimConsumerReference> others = claim.getStatus().getReservedFor().stream()
          .filter(user -> !known.contains(user.getUid())).toList();
      boolean freeable =
          !(pods.isEmpty() && others.isEmpty())
              && (others.isEmpty() || (others.stream().allMatch(user -> isOver(view, user)) && isFreed.test(claim)))
              && pods.stream().allMatch(mayGo);
      if (freeable) {
        pods.forEach(pod -> victims.put(victim(pod), pod));
        users.put(claim.getMetadata().getUid(), known);
      }
    }
    return new VictimsOnNode(node, victims, users);
  }

  /** Whether it is a pod that has ended, or is gone. */
  private static boolean isOver(ClusterObjects view, ResourceClaimConsumerReference user) {
    if (!"pods".equals(user.getResource()) || !Objects.requireNonNullElse(user.getApiGroup(), "").isEmpty()) {
      return false;
    }
    @Nullable Pod pod = view.podByUid(user.getUid());
    return pod == null || PodClaims.hasEnded(pod);
  }

  /** UIDs of the claims that are free once these pods are gone. */
  Set<String> freedBy(Set<Victim> gone) {
    Set<String> uids = gone.stream().map(Victim::uid).collect(Collectors.toSet());
    Set<String> freed = new HashSet<>();
    users.forEach((claim, ofClaim) -> {
      if (uids.containsAll(ofClaim)) {
        freed.add(claim);
      }
    });
    return freed;
  }

  /** UIDs of the claims that the pod uses, alone or with others that may go. */
  List<String> claimsOf(Victim victim) {
    return users.entrySet().stream().filter(claim -> claim.getValue().contains(victim.uid())).map(Map.Entry::getKey)
        .toList();
  }

  /** Whether kubelet itself runs the pod: it would come back at once. */
  static boolean isStatic(Pod pod) {
    return Annotations.value(pod, MIRROR).isPresent();
  }

  private static Victim victim(Pod pod) {
    String started =
        Optional.ofNullable(pod.getStatus())
            .flatMap(status -> Optional.ofNullable(status.getStartTime()))
            .orElse(Objects.requireNonNullElse(pod.getMetadata().getCreationTimestamp(), ""));
    return new Victim(
        pod.getMetadata().getUid(), pod.getMetadata().getNamespace(), pod.getMetadata().getName(),
        PodOrder.priority(pod), started);
  }
}
