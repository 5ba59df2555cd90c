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
  record TermStart() implements WorkItem {}

  /** Something changed in the cluster. */
  record ClusterChange(ClusterEvent event) implements WorkItem {}

  /**
   * The write of a claim's allocation has ended.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  record ClaimWritten(ClaimRef claim, Optional<String> version) implements WorkItem {}

  /** An allocation or a proposal could not be taken back. */
  record ReleaseFailed(ObjectKey claim, String claimUid) implements WorkItem {}

  /** All writes for a pod have come to their end. */
  record PodWritten(ObjectKey pod, boolean failed) implements WorkItem {}

  /** Look at what is proposed for the claim again, for a while has passed. */
  record ProposalCheck(ObjectKey claim, String claimUid) implements WorkItem {}

  /** A node may be proposed for the claim again: to whoever uses it by now. */
  record VetoEnd(ObjectKey claim) implements WorkItem {}

  /** A victim of the pod's preemption may not be evicted now. */
  record EvictionRefused(ObjectKey pod, String podUid, String victimUid) implements WorkItem {}

  /** No eviction of a victim of the pod's preemption was sent: evictions pause, or this instance does not lead. */
  record EvictionNotSent(ObjectKey pod, String podUid, String victimUid) implements WorkItem {}

  /** Somebody asks how a pod or a claim stands. */
  record ExplanationRequest(Question question, CompletableFuture<Answer> answer) implements WorkItem {}

  /** Somebody asks what would fit now. */
  record HeadroomRequest(CompletableFuture<SortedMap<String, Headroom>> headroom) implements WorkItem {}

  /** Say again why pods wait: more is taken than when it was said. */
  record ReasonsRefresh() implements WorkItem {}

  /** What was decided about the pod failed, and a while has passed. */
  record DecisionRetry(ObjectKey pod) implements WorkItem {}

  /**
   * What was set aside may be decided again.
   *
   * @param id what it was set aside by
   */
  record BackoffEnd(Turn turn, String id) implements WorkItem {}

  /** More pods are to be decided about than there was time for. */
  record NextDecisions() implements WorkItem {}

  /** The claim could not be given back, and a while has passed. */
  record ReleaseRetry(ObjectKey claim, String claimUid) implements WorkItem {}

  /**
   * What became of an asked size has been written.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  record ResizeWritten(ResizeWriter.Write write, Optional<String> version) implements WorkItem {}

  /** Look again at the claim's asked size, for a while has passed since a write of it failed. */
  record ResizeRetry(ObjectKey claim) implements WorkItem {}

  /** Look again at claims whose asked sizes wait, for a while has passed. */
  record ResizeCheck() implements WorkItem {}

  /** Look at the pod again, for a while has passed. */
  record PodCheck(ObjectKey pod) implements WorkItem {}
}
