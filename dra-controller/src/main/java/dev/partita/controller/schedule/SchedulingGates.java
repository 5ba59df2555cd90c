package dev.partita.controller.schedule;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Has scheduling gates taken off pods, so that kube-scheduler looks at a pod as soon as there is something for it to
 * do, and no sooner. For one thread.
 */
public final class SchedulingGates {
  /** How long a claim may come after the pod that names it before kube-scheduler is to see the pod without it. */
  private static final Duration CLAIM_COMES = Duration.ofSeconds(30);

  private final ClusterObjects view;
  private final Clock clock;
  private final SchedulerState state;
  private final Preemption preemption;
  private final PodWrites writes;
  private final Retries retries;
  private final boolean autoscaledNodes;
  private final Map<ObjectKey, Instant> claimless = new HashMap<>(); // since when a pod's claim is known to be missing

  /** @param autoscaledNodes whether an autoscaler is to see pods that wait, for which they may have no gate */
  public SchedulingGates(
      ClusterObjects view,
      Clock clock,
      SchedulerState state,
      Preemption preemption,
      PodWrites writes,
      Retries retries,
      boolean autoscaledNodes) {
    this.view = view;
    this.clock = clock;
    this.state = state;
    this.preemption = preemption;
    this.writes = writes;
    this.retries = retries;
    this.autoscaledNodes = autoscaledNodes;
  }

  /** The pod is over or gone, or no claim of it is missing any more. */
  void forget(ObjectKey pod) {
    claimless.remove(pod);
  }

  /**
   * A claim of the pod is missing. kube-scheduler says what is wrong with it; but a claim and its pod may be made in
   * either order, so it looks at the pod only after a while. The API server's clock, by which the pod was made, may be
   * ahead of this one.
   */
  void claimMissing(Pod pod) {
    if (AllocationGate.isOn(pod)) {
      ObjectKey key = ObjectKey.of(pod);
      Instant now = clock.instant();
      Instant made =
          Optional.ofNullable(pod.getMetadata().getCreationTimestamp()).map(Instant::parse).orElse(Instant.EPOCH);
      Instant since = claimless.merge(key, made.isBefore(now) ? made : now, SchedulingGates::earlier);
      Duration left = Duration.between(now, since.plus(CLAIM_COMES));
      if (left.isPositive()) {
        retries.after(left, new WorkItem.PodCheck(key));
      } else {
        open(pod);
      }
    }
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  /**
   * Lets autoscalers of nodes see pods that wait, if one more node may help: they look only at pods for which
   * kube-scheduler has found no node, which it does not say of pods with a gate.
   *
   * @param pods one by itself, or those of a gang that have no place yet. Where kube-scheduler allocates on some nodes,
   *        a gang's keep their gates: it would tear the gang apart
   * @param wait why the pod, or one of the gang, waits
   */
  void show(List<Pod> pods, Decision.Wait wait) {
    if (!autoscaledNodes || pods.stream().noneMatch(AllocationGate::isOn)
        || pods.stream().anyMatch(preemption::mayMakeRoom)) {
      return;
    }
    boolean isGang = pods.stream().anyMatch(pod -> view.gangOf(pod).isPresent());
    boolean isLeftToScheduler = isGang && state.inventory().hosts().values().stream()
        .anyMatch(host -> host.allocator() == GpuNodeSpec.Allocator.Scheduler);
    if (!isLeftToScheduler && wait.newNode().get().mayHelp()) {
      pods.forEach(this::open);
    }
  }

  /** Lets kube-scheduler look at the pod. */
  void open(Pod pod) {
    if (AllocationGate.isOn(pod)) {
      writes.open(pod);
    }
  }
}
