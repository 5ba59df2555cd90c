package dev.partita.controller.claim;

import dev.partita.api.Driver;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Pods of a namespace of which all are allocated or none; their annotations say which these are. */
public final class Gang {
  private static final int MOST = 10_000;

  private Gang() {}

  /** Namespace and name of the pod's gang; empty if it belongs to none. */
  public static Optional<ObjectKey> of(Pod pod) {
    return annotation(pod, Driver.GANG_ANNOTATION).map(name -> new ObjectKey(pod.getMetadata().getNamespace(), name));
  }

  /** Whether the pod counts as there: it is not on its way out, and has not failed. */
  public static boolean isThere(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && (pod.getStatus() == null || !"Failed".equals(pod.getStatus().getPhase()));
  }

  /** Whether it may be decided about. */
  public sealed interface State {
    /** All are there. */
    record Complete(int size) implements State {}

    /**
     * It must wait.
     *
     * @param why for people
     */
    record Waits(String why) implements State {}
  }

  /** @param there pods that are there */
  public static State state(ObjectKey gang, Collection<Pod> there) {
    String title = "gang " + gang.name() + ": ";
    List<Optional<String>> sizes =
        there.stream().map(pod -> annotation(pod, Driver.GANG_SIZE_ANNOTATION)).distinct().toList();
    if (sizes.size() > 1) {
      return new State.Waits(
          title + "its pods disagree about " + Driver.GANG_SIZE_ANNOTATION + ": "
              + String.join(", ", sizes.stream().map(s -> s.orElse("none")).sorted().toList()));
    }
    String size = sizes.isEmpty() ? "" : sizes.getFirst().orElse("");
    if (!size.matches("[1-9][0-9]{0,4}") || Integer.parseInt(size) > MOST) {
      return new State.Waits(
          title + "annotation " + Driver.GANG_SIZE_ANNOTATION + " must be a whole number from 1 to " + MOST
              + (size.isEmpty() ? "; there is none" : ", not " + size));
    }
    int wanted = Integer.parseInt(size);
    return there.size() < wanted
        ? new State.Waits(title + there.size() + " of " + wanted + (wanted == 1 ? " pod is there" : " pods are there"))
        : new State.Complete(wanted);
  }

  private static Optional<String> annotation(Pod pod, String name) {
    Map<String, String> annotations = Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    @Nullable String value = annotations.get(name);
    return Optional.ofNullable(value).map(String::strip).filter(v -> !v.isEmpty());
  }
}
