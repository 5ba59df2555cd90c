package dev.partita.controller.gang;

import dev.partita.api.Annotations;
import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGroup;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Pods of a namespace of which all are allocated or none; their PodGroup or their annotations say which these are. */
public final class Gang {
  private static final int MOST = 10_000;

  /** Each of the gang's pods may say another size, and all of its pods are told. */
  private static final int SIZES_SHOWN = 5;

  private Gang() {}

  /**
   * The pod's gang; empty if it belongs to none. A PodGroup comes before annotations: kube-scheduler goes by it
   * whatever they say, and would not bind pods that had their cards as another gang. One that says nothing of a gang
   * leaves it to them.
   */
  public static Optional<GangKey> of(Pod pod, PodGroups groups) {
    return podGroup(pod).filter(group -> !(groups.policy(group) instanceof PodGroupPolicy.NoGang))
        .<GangKey>map(group -> group).or(() -> annotated(pod));
  }

  /** All that it could belong to, whatever there is of PodGroups. */
  public static List<GangKey> candidates(Pod pod) {
    return Stream.<Optional<? extends GangKey>>of(podGroup(pod), annotated(pod)).<GangKey>flatMap(Optional::stream)
        .toList();
  }

  /** Whether the pod names a PodGroup, whatever that says of a gang. */
  public static boolean namesPodGroup(Pod pod) {
    return podGroup(pod).isPresent();
  }

  private static Optional<GangKey.OfPodGroup> podGroup(Pod pod) {
    @Nullable PodSchedulingGroup group = pod.getSpec() == null ? null : pod.getSpec().getSchedulingGroup();
    return Optional.ofNullable(group).map(PodSchedulingGroup::getPodGroupName).filter(name -> !name.isEmpty())
        .map(name -> new GangKey.OfPodGroup(pod.getMetadata().getNamespace(), name));
  }

  private static Optional<GangKey.Annotated> annotated(Pod pod) {
    return annotation(pod, Driver.GANG_ANNOTATION)
        .map(name -> new GangKey.Annotated(pod.getMetadata().getNamespace(), name));
  }

  /** Whether the pod counts as there: it is not on its way out, and has not failed. */
  public static boolean isThere(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && (pod.getStatus() == null || !"Failed".equals(pod.getStatus().getPhase()));
  }

  /** Whether a gang may be decided about. */
  public sealed interface State {
    /** As many of its pods are there as must be. */
    record Complete(int size) implements State {}

    /**
     * It must wait: pods are missing, or what they say of their gang is wrong.
     *
     * @param why for people
     */
    record Waits(String why) implements State {}
  }

  /** @param there pods that are there */
  public static State state(GangKey gang, Collection<Pod> there, PodGroups groups) {
    State full = switch (gang) {
      case GangKey.Annotated _ -> fullByAnnotations(there);
      case GangKey.OfPodGroup group -> full(groups.policy(group));
    };
    return switch (full) {
      case State.Waits(String why) -> new State.Waits(gang.title() + ": " + why);
      case State.Complete(int wanted) when there.size() < wanted -> new State.Waits(
          gang.title() + ": " + there.size() + " of " + wanted + (wanted == 1 ? " pod is there" : " pods are there"));
      case State.Complete complete -> complete;
    };
  }

  /** What it is once all are there. */
  private static State full(PodGroupPolicy policy) {
    return switch (policy) {
      case PodGroupPolicy.Missing _ -> new State.Waits("there is no PodGroup of that name");
      case PodGroupPolicy.NoGang _ -> new State.Complete(0);
      case PodGroupPolicy.AllAtOnce(int minCount) -> minCount < 1 || minCount > MOST
          ? new State.Waits("minCount must be a whole number from 1 to " + MOST + ", not " + minCount)
          : new State.Complete(minCount);
    };
  }

  private static State fullByAnnotations(Collection<Pod> there) {
    List<Optional<String>> sizes =
        there.stream().map(pod -> annotation(pod, Driver.GANG_SIZE_ANNOTATION)).distinct().toList();
    if (sizes.size() > 1) {
      return new State.Waits(
          "its pods disagree about " + Driver.GANG_SIZE_ANNOTATION + ": "
              + sizes.stream().map(s -> s.map(GangKey::shown).orElse("none")).distinct().sorted().limit(SIZES_SHOWN)
                  .collect(Collectors.joining(", "))
              + (sizes.size() > SIZES_SHOWN ? " and more" : ""));
    }
    String size = sizes.isEmpty() ? "" : sizes.getFirst().orElse("");
    if (!size.matches("[1-9][0-9]{0,4}") || Integer.parseInt(size) > MOST) {
      return new State.Waits(
          "annotation " + Driver.GANG_SIZE_ANNOTATION + " must be a whole number from 1 to " + MOST
              + (size.isEmpty() ? "; there is none" : ", not " + GangKey.shown(size)));
    }
    return new State.Complete(Integer.parseInt(size));
  }

  private static Optional<String> annotation(Pod pod, String name) {
    return Annotations.value(pod, name).map(String::strip).filter(v -> !v.isEmpty());
  }
}
