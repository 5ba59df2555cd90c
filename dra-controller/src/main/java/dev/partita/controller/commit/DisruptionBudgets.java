package dev.partita.controller.commit;

import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.quota.Labels;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Counts how many of a namespace's pods its PodDisruptionBudgets let go together. The API server judges each eviction
 * by itself, and one on trial takes nothing off a budget. For one thread.
 */
final class DisruptionBudgets {
  private final List<PodDisruptionBudget> budgets;
  private final Map<String, Integer> evictions = new HashMap<>(); // by the budget's name

  DisruptionBudgets(List<PodDisruptionBudget> budgets) {
    this.budgets = List.copyOf(budgets);
  }

  boolean isEmpty() {
    return budgets.isEmpty();
  }

  /** Counts the eviction of a pod; says whether it may go together with those that were counted before. */
  boolean allow(Pod pod) {
    boolean allowed = true;
    for (PodDisruptionBudget budget : budgets) {
      // of pods that are not ready the API server takes nothing off a budget, if it lets them go
      if (PodClaims.isReady(pod) && selects(budget, pod)) {
        int most = budget.getStatus() == null
            ? 0
            : Objects.requireNonNullElse(budget.getStatus().getDisruptionsAllowed(), 0);
        allowed &= evictions.merge(budget.getMetadata().getName(), 1, Integer::sum) <= most;
      }
    }
    return allowed;
  }

  private static boolean selects(PodDisruptionBudget budget, Pod pod) {
    @Nullable LabelSelector selector = budget.getSpec() == null ? null : budget.getSpec().getSelector();
    Map<String, String> labels = Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
    return selector != null && !labels.isEmpty() && Labels.selects(selector, labels); // no budget is for one without
  }
}
