package dev.partita.controller.schedule;

import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.headroom.Headroom;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.resize.ResizeWriter;
import dev.partita.controller.turns.Turn;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ObjectKey;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;

/** What the allocation loop handles: a change in the cluster, the end of a write or of a pause, or a question. */
public sealed interface WorkItem {
  /** This instance has begun to lead: everything is new. */
  record Begin() implements WorkItem {}

  record Observed(ClusterEvent event) implements WorkItem {}

  /**
   * A write came to its end.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  record Written(ClaimRef claim, Optional<String> version) implements WorkItem {}

  /** An allocation or a proposal could not be taken back. */
  record NotReleased(ObjectKey claim, String claimUid) implements WorkItem {}

  /** All writes for a pod have come to their end. */
  record Finished(ObjectKey pod, boolean failed) implements WorkItem {}

  /** Look at what is proposed for the claim again, for a while has passed. */
  record ClaimAgain(ObjectKey claim, String claimUid) implements WorkItem {}

  /** A node may be proposed for the claim again: to whoever uses it by now. */
  record VetoOver(ObjectKey claim) implements WorkItem {}

  /** A victim of the pod's preemption may not be evicted now. */
  record EvictionRefused(ObjectKey pod, String podUid, String victimUid) implements WorkItem {}

  /** No eviction of a victim of the pod's preemption was sent: evictions pause, or this instance does not lead. */
  record EvictionNotSent(ObjectKey pod, String podUid, String victimUid) implements WorkItem {}

  /** Somebody asks how a pod or a claim stands. */
  record Explain(Question question, CompletableFuture<Answer> answer) implements WorkItem {}

  /** Somebody asks what would fit now. */
  record Measure(CompletableFuture<SortedMap<String, Headroom>> headroom) implements WorkItem {}

  /** Say again why pods wait: more is taken than when it was said. */
  record SayAgain() implements WorkItem {}

  /** What was decided about the pod failed, and a while has passed. */
  record TryAgain(ObjectKey pod) implements WorkItem {}

  /**
   * What was set aside may be decided again.
   *
   * @param id what it was set aside by
   */
  record AsideOver(Turn turn, String id) implements WorkItem {}

  /** More pods are to be decided about than there was time for. */
  record GoOn() implements WorkItem {}

  /** The claim could not be given back, and a while has passed. */
  record ReleaseAgain(ObjectKey claim, String claimUid) implements WorkItem {}

  /**
   * What became of an asked size has been written.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  record ResizeWritten(ResizeWriter.Write write, Optional<String> version) implements WorkItem {}

  /** Look again at the claim's asked size, for a while has passed since a write of it failed. */
  record ResizeAgain(ObjectKey claim) implements WorkItem {}

  /** Look again at claims whose asked sizes wait, for a while has passed. */
  record ResizeTurn() implements WorkItem {}

  /** Look at the pod again, for a while has passed. */
  record Again(ObjectKey pod) implements WorkItem {}
}
