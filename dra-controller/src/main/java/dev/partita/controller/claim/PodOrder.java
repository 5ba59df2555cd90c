package dev.partita.controller.claim;

import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Comparator;
import java.util.Objects;

/** Says which of two pods is decided about first. */
public final class PodOrder {
  /** By age, then by name. */
  public static final Comparator<Pod> OLDEST_FIRST =
      Comparator.<Pod, String>comparing(
          pod -> Objects.requireNonNullElse(pod.getMetadata().getCreationTimestamp(), ""))
          .thenComparing(pod -> ObjectKey.of(pod).toString());

  /** By priority, then by age, then by name. */
  public static final Comparator<Pod> MOST_URGENT_FIRST =
      Comparator.comparing(PodOrder::priority, Comparator.reverseOrder()).thenComparing(OLDEST_FIRST);

  private PodOrder() {}

  /** The pod's priority as admission has resolved it; 0 if it has none. */
  public static int priority(Pod pod) {
    return Objects.requireNonNullElse(pod.getSpec().getPriority(), 0);
  }
}
