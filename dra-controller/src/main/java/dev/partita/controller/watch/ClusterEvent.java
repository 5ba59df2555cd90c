package dev.partita.controller.watch;

/**
 * Says that something changed; {@link ClusterView} says what it is like now. Events carry names only, so that none can
 * be out of date.
 */
public sealed interface ClusterEvent {
  record GpuNodeChanged(String node) implements ClusterEvent {}

  record NodeChanged(String node) implements ClusterEvent {}

  record PodChanged(ObjectKey pod, String uid) implements ClusterEvent {}

  record ClaimChanged(ObjectKey claim, String uid) implements ClusterEvent {}

  record TemplateChanged(ObjectKey template) implements ClusterEvent {}

  record ClassChanged(String name) implements ClusterEvent {}

  record QuotaChanged(String name) implements ClusterEvent {}

  record NamespaceChanged(String name) implements ClusterEvent {}

  record TaintRuleChanged(String name) implements ClusterEvent {}

  record PodGroupChanged(ObjectKey group) implements ClusterEvent {}

  /** A slice of another driver, of that node, changed. */
  record OtherSliceChanged(String node) implements ClusterEvent {}

  /** A slice of our driver, of that node, changed. */
  record SliceChanged(String node) implements ClusterEvent {}
}
