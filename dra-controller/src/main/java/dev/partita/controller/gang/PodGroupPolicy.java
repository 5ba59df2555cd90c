package dev.partita.controller.gang;

/** What a PodGroup says of how its pods are to be scheduled. */
public sealed interface PodGroupPolicy {
  /** It says nothing of a gang; or the API server serves no PodGroups, and nobody goes by them. */
  record NoGang() implements PodGroupPolicy {}

  /**
   * All of its pods are scheduled at once, or none.
   *
   * @param minCount how many pods there must be a place for; whatever its author wrote
   */
  record AllAtOnce(int minCount) implements PodGroupPolicy {}

  /** There is no PodGroup of that name: kube-scheduler leaves its pods alone as long as there is none. */
  record Missing() implements PodGroupPolicy {}
}
