package dev.partita.controller.web.view;

import dev.partita.controller.fleet.WaitingPod;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Pods that wait for cards.
 *
 * @param pods those that the viewer may see and that are asked for, those first that have waited longest
 */
public record PodsView(Paged<WaitingPod> pods) {
  /** Those that are asked for: by a part of namespace, name, reason or message. */
  public static PodsView of(Collection<WaitingPod> waiting, Query query, Sight sight) {
    List<WaitingPod> shown =
        waiting.stream()
            .filter(pod -> query.matches(pod.namespace() + "/" + pod.name(), pod.reason(), pod.message()))
            .filter(pod -> sight.podsOf(pod.namespace()))
            .sorted(Comparator.comparing(WaitingPod::since).thenComparing(WaitingPod::namespace)
                .thenComparing(WaitingPod::name))
            .toList();
    return new PodsView(Paged.of(shown, query, pod -> pod));
  }
}
