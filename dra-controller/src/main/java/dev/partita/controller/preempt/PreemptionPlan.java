package dev.partita.controller.preempt;

import dev.partita.controller.state.Nomination;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The pods to evict so that a pod, or all of a gang, finds a place.
 *
 * @param nominations what is kept meanwhile for each of them, in the order in which they were decided about; others
 *        have to go for one of them at least
 */
public record PreemptionPlan(Map<Pod, Nomination> nominations) {
  public PreemptionPlan {
    nominations = Collections.unmodifiableMap(new LinkedHashMap<>(nominations));
  }

  /** Who makes room, for those who own the pods. */
  public Optional<String> words() {
    return words(nominations.values());
  }

  /** The same of nominations that are there already; empty if nobody has to go for any of them. */
  public static Optional<String> words(Collection<Nomination> nominations) {
    return nominations.stream().flatMap(nomination -> nomination.words().stream())
        .reduce((one, other) -> one + "; " + other);
  }
}
