package dev.partita.controller.fleet;

import dev.partita.api.Driver;
import dev.partita.controller.claim.PodClaims;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;

/**
 * A pod that waits for cards, as its condition {@link Driver#ALLOCATED_CONDITION} says.
 *
 * @param since when the condition became so, as the API has it; empty if it does not say
 * @param reason in one word
 * @param message for people
 */
public record WaitingPod(String namespace, String name, String since, String reason, String message) {
  /** Empty if it has a node, is over or being deleted, or does not wait for cards. */
  public static Optional<WaitingPod> of(Pod pod) {
    if (pod.getStatus() == null || pod.getStatus().getConditions() == null || !PodClaims.isLive(pod)
        || (pod.getSpec() != null && pod.getSpec().getNodeName() != null)) {
      return Optional.empty();
    }
    return pod.getStatus().getConditions().stream()
        .filter(condition -> Driver.ALLOCATED_CONDITION.equals(condition.getType()))
        .filter(condition -> "False".equals(condition.getStatus()))
        .findFirst()
        .map(condition -> new WaitingPod(pod.getMetadata().getNamespace(), pod.getMetadata().getName(),
            text(condition.getLastTransitionTime()), text(condition.getReason()), text(condition.getMessage())));
  }

  private static String text(String value) {
    return Objects.requireNonNullElse(value, "");
  }
}
