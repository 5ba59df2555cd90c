package dev.partita.controller.commit;

import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.Victim;
import dev.partita.controller.turns.TasksByTurns;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts pods through the Eviction API, which respects PodDisruptionBudgets and grace periods: for one pod or gang
 * after another, so that what a budget allows on trial is not used up by others then. Only where an eviction takes
 * long, as where a webhook does not answer, the next one begins meanwhile.
 */
public final class Evictor implements AutoCloseable {
  /** For so long no eviction is sent once they keep failing. */
  public static final Duration PAUSE = ApiEdge.PAUSE;

  private static final Logger LOG = LoggerFactory.getLogger(Evictor.class);

  private static final String SEVERAL_BUDGETS = "more than one PodDisruptionBudget";

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final PodEvents events;
  private final WriteListener listener;
  private final Function<Nomination, Nomination.Standing> standing;
  private final TasksByTurns evictions = new TasksByTurns("evictor", () -> 1);

  /** @param standing whether a place is kept still for which others are to go; any thread may ask */
  public Evictor(
      KubernetesClient client,
      ApiEdge edge,
      PodEvents events,
      WriteListener listener,
      Function<Nomination, Nomination.Standing> standing) {
    this.client = client;
    this.edge = edge;
    this.events = events;
    this.listener = listener;
    this.standing = standing;
  }

  /**
   * Begins to evict the victims: first all on trial, so that none goes in vain because another one may not, or not
   * together with it. None goes either where the pod is gone meanwhile, or has got another place.
   *
   * @param nominations by the pod for which it is
   */
  public void evict(Map<Pod, Nomination> nominations) {
    nominations.keySet().stream().map(pod -> pod.getMetadata().getNamespace()).findFirst().ifPresent(
        namespace -> evictions.add(namespace, () -> {
          if (areKept(nominations) && areEvicted(nominations, true) && areKept(nominations)
              && mayGoTogether(nominations) && areKept(nominations)) {
            areEvicted(nominations, false);
          }
        }));
  }

  /** Whether all of them are kept; if not, room is looked for again for those that have not ended. */
  private boolean areKept(Map<Pod, Nomination> nominations) {
    Map<Pod, Nomination.Standing> standings = new HashMap<>();
    nominations.forEach((pod, nomination) -> standings.put(pod, standing.apply(nomination)));
    if (standings.values().stream().allMatch(Nomination.Standing.KEPT::equals)) {
      return true;
    }
    LOG.info("nobody is evicted for {}: what was kept for a pod of these is not any more",
        nominations.keySet().stream().map(ObjectKey::of).toList());
    nominations.values().stream().flatMap(nomination -> nomination.victims().stream()).findFirst()
        .ifPresent(victim -> nominations.forEach((pod, nomination) -> {
          if (standings.get(pod) != Nomination.Standing.ENDED) {
            listener.evictionNotSent(ObjectKey.of(pod), nomination.pod().uid(), victim.uid());
          }
        }));
    return false;
  }

  private boolean areEvicted(Map<Pod, Nomination> nominations, boolean onTrial) {
    return nominations.entrySet().stream().allMatch(one -> areEvicted(one.getKey(), one.getValue(), onTrial));
  }

  private boolean areEvicted(Pod preemptor, Nomination nomination, boolean onTrial) {
    for (Victim victim : nomination.victims()) {
      switch (evict(victim, onTrial)) {
        case REFUSED -> {
          refused(preemptor, nomination, victim);
          return false;
        }
        case NOT_SENT -> {
          listener.evictionNotSent(ObjectKey.of(preemptor), nomination.pod().uid(), victim.uid());
          return false;
        }
        case EVICTED -> {
          if (!onTrial) {
            String why = nomination.toVictim(victim, ObjectKey.of(preemptor).toString());
            LOG.info("pod {}: {}; that pod is {}", victim, why, ObjectKey.of(preemptor));
            events.warn(victim.namespace(), victim.name(), victim.uid(), "Preempted", "Preempt", why);
          }
        }
        case GONE -> LOG.debug("pod {}: it is gone already", victim);
      }
    }
    return true;
  }

  private void refused(Pod preemptor, Nomination nomination, Victim victim) {
    listener.evictionRefused(ObjectKey.of(preemptor), nomination.pod().uid(), victim.uid());
  }

  private boolean mayGoTogether(Map<Pod, Nomination> nominations) {
    Map<String, Long> victims = nominations.values().stream().flatMap(nomination -> nomination.victims().stream())
        .collect(Collectors.groupingBy(Victim::namespace, Collectors.counting()));
    Map<String, DisruptionBudgets> budgets = new HashMap<>();
    for (Map.Entry<Pod, Nomination> one : nominations.entrySet()) {
      for (Victim victim : one.getValue().victims()) {
        if (victims.getOrDefault(victim.namespace(), 0L) > 1
            && !mayGo(victim, budgets.computeIfAbsent(victim.namespace(), this::budgets))) {
          LOG.info("pod {}: cannot evict it now: a PodDisruptionBudget forbids it together with others", victim);
          refused(one.getKey(), one.getValue(), victim);
          return false;
        }
      }
    }
    return true;
  }

  private boolean mayGo(Victim victim, DisruptionBudgets budgets) {
    try {
      return budgets.isEmpty() || read(victim).map(budgets::allow).orElse(true);
    } catch (RuntimeException e) {
      LOG.warn("pod {}: cannot read it before it is evicted: {}", victim, e.getMessage());
      return true;
    }
  }

  /** None where they cannot be read: the API server judges each eviction in any case. */
  private DisruptionBudgets budgets(String namespace) {
    try {
      return new DisruptionBudgets(edge.in(namespace).read(
          () -> client.policy().v1().podDisruptionBudget().inNamespace(namespace).list().getItems()));
    } catch (RuntimeException e) {
      LOG.warn("namespace {}: cannot list its PodDisruptionBudgets: {}", namespace, e.getMessage());
      return new DisruptionBudgets(List.of());
    }
  }

  /** What became of an eviction; of a victim that had gone before, or whose answer was lost, nobody is told. */
  private enum Answer {
    EVICTED, GONE, REFUSED,
    /** Nothing is known of the victim: others' evictions keep failing, or this instance does not lead. */
    NOT_SENT
  }

  private Answer evict(Victim victim, boolean onTrial) {
    Eviction eviction =
        new EvictionBuilder()
            .withNewMetadata()
            .withName(victim.name())
            .withNamespace(victim.namespace())
            .endMetadata()
            .withDeleteOptions(
                new DeleteOptionsBuilder()
                    .withNewPreconditions(null, victim.uid())
                    .withDryRun(onTrial ? List.of("All") : List.of())
                    .build())
            .build();
    try {
      boolean done =
          edge.in(victim.namespace()).write(onTrial ? WriteKind.EVICTION_TRIAL : WriteKind.EVICTION,
              () -> isEvicted(victim, eviction),
              evicted -> evicted);
      if (!done) {
        LOG.info("pod {}: cannot evict it now: a PodDisruptionBudget forbids it, or several select the pod", victim);
      }
      return done ? Answer.EVICTED : Answer.REFUSED;
    } catch (RuntimeException e) {
      if ((ApiEdge.isNotFound(e) || ApiEdge.isConflict(e)) && isGone(victim)) {
        return Answer.GONE;
      }
      LOG.warn("pod {}: cannot evict it: {}", victim, e.getMessage());
      return ApiEdge.isNotSent(e) ? Answer.NOT_SENT : Answer.REFUSED;
    }
  }

  /** False if a PodDisruptionBudget forbids it, or if the pod has several, of which the API server says so by 500. */
  private boolean isEvicted(Victim victim, Eviction eviction) {
    try {
      return client.pods().inNamespace(victim.namespace()).withName(victim.name()).evict(eviction);
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_INTERNAL_ERROR
          && String.valueOf(e.getMessage()).contains(SEVERAL_BUDGETS)) {
        return false;
      }
      throw e;
    }
  }

  /** A conflict may be one of writes, or what somebody's webhook says, as well as another pod by that name. */
  private boolean isGone(Victim victim) {
    try {
      return read(victim).isEmpty();
    } catch (RuntimeException e) {
      LOG.warn("pod {}: cannot read it either: {}", victim, e.getMessage());
      return false;
    }
  }

  /** Empty if it is gone, or on its way out. */
  private Optional<Pod> read(Victim victim) {
    @Nullable Pod now = edge.in(victim.namespace())
        .read(() -> client.pods().inNamespace(victim.namespace()).withName(victim.name()).get());
    return Optional.ofNullable(now)
        .filter(pod -> pod.getMetadata().getUid().equals(victim.uid())
            && pod.getMetadata().getDeletionTimestamp() == null);
  }

  @Override
  public void close() {
    evictions.close();
  }
}
