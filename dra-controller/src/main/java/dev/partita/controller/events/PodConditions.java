package dev.partita.controller.events;

import dev.partita.api.Driver;
import dev.partita.api.MonotonicClock;
import dev.partita.controller.decode.LeftOut;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.Faults;
import dev.partita.controller.watch.ObjectKey;
import dev.partita.controller.watch.ResourceVersion;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the condition {@link Driver#ALLOCATED_CONDITION} of pods true, on a thread of its own. Only a pod that has to
 * wait gets one; it says when the wait is over. The same words are not written twice, and another reason to wait no
 * sooner than {@link #PAUSE} after the last. A failed write is tried again, for nothing more may ever be said about a
 * wait that is over.
 */
public final class PodConditions implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PodConditions.class);

  /** Reasons change with every claim that comes or goes: nobody reads faster than that. */
  static final Duration PAUSE = Duration.ofSeconds(5);

  /** How long decisions are gathered, so that of several about a pod only the last is written. */
  private static final Duration GATHER = Duration.ofMillis(300);

  /** How often the pause after a failure doubles: up to 160 s. */
  private static final int MOST_DOUBLINGS = 5;

  private static final int REMEMBERED = 10_000;

  /** How many pods' conditions may wait to be written: more than a cluster has for which this is made. */
  private static final int MOST_WAITING = 50_000;
  private static final int ATTEMPTS = 3;

  private record PodRef(ObjectKey key, String uid) {}

  /**
   * A pod's condition as this instance wrote it last.
   *
   * @param version of the pod with it
   */
  private record Written(AllocatedCondition condition, Instant when, String version) {}

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;
  private final Clock clock;
  private final Clock monotonicClock;
  private final Map<PodRef, AllocatedCondition> wanted = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("pod-conditions").daemon().factory());

  // Only the timer's thread touches these two.
  private final Backoff<PodRef> failures = new Backoff<>(PAUSE, MOST_DOUBLINGS);
  private final Map<PodRef, Written> written = new LruMap<>(REMEMBERED);

  public PodConditions(KubernetesClient client, ApiEdge edge, ClusterView view, Clock clock) {
    this(client, edge, view, clock, MonotonicClock.start());
  }

  /** @param monotonicClock the pause goes by it: nobody sets it */
  public PodConditions(KubernetesClient client, ApiEdge edge, ClusterView view, Clock clock, Clock monotonicClock) {
    this.monotonicClock = monotonicClock;
    this.client = client;
    this.edge = edge;
    this.view = view;
    this.clock = clock;
  }

  /** Writes it into the pod's condition, soon. */
  public void tell(Pod pod, AllocatedCondition condition) {
    PodRef ref = new PodRef(ObjectKey.of(pod), pod.getMetadata().getUid());
    if (wanted.size() >= MOST_WAITING && !wanted.containsKey(ref)) {
      LOG.warn("pod {}: dropped its condition: {} other pods are waiting for theirs", ref.key(), MOST_WAITING);
      return;
    }
    boolean first = wanted.put(ref, condition) == null;
    if (first || condition.status() != AllocatedCondition.Status.False) {
      after(GATHER, ref);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(10, TimeUnit.SECONDS)) {
        LOG.warn("writing a pod's condition takes too long");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void after(Duration pause, PodRef ref) {
    if (!timer.isShutdown()) {
      var _ = timer.schedule(() -> say(ref), pause.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void say(PodRef ref) {
    try {
      @Nullable AllocatedCondition latest = wanted.get(ref);
      @Nullable Written before = written.get(ref);
      Instant now = monotonicClock.instant();
      boolean echoing = before != null && before.when().plus(PAUSE).isAfter(now);
      if (latest != null && latest.status() == AllocatedCondition.Status.False && before != null && echoing) {
        after(Duration.between(now, before.when().plus(PAUSE)), ref);
        return;
      }
      @Nullable AllocatedCondition condition = wanted.remove(ref);
      if (condition == null) {
        return; // said meanwhile
      }
      @Nullable Pod pod = view.pod(ref.key());
      if (pod == null || !pod.getMetadata().getUid().equals(ref.uid())) {
        written.remove(ref);
        failures.succeeded(ref);
        return;
      }
      List<PodCondition> conditions = conditions(pod);
      int index = index(conditions);
      boolean shown = index >= 0 && says(conditions.get(index), condition);
      Optional<AllocatedCondition> notShown = Optional.ofNullable(before)
          .filter(last -> !ResourceVersion.hasReached(pod, last.version())).map(Written::condition);
      boolean known = notShown.map(condition::equals).orElse(shown);
      boolean needless = condition.status() != AllocatedCondition.Status.False && index < 0 && notShown.isEmpty();
      if (known || needless || write(ref, pod, condition, now)) {
        failures.succeeded(ref);
      } else {
        tryAgain(ref, condition);
      }
    } catch (RuntimeException | Error e) { // the timer would keep it to itself
      LOG.error("pod {}: cannot write its condition", ref.key(), e);
      Faults.endUnlessOfTheItem(e);
    }
  }

  private void tryAgain(PodRef ref, AllocatedCondition condition) {
    wanted.putIfAbsent(ref, condition);
    failures
        .failed(ref)
        .filter(pause -> !timer.isShutdown())
        .ifPresent(
            pause -> {
              var _ =
                  timer.schedule(
                      () -> {
                        failures.tried(ref);
                        say(ref);
                      },
                      pause.toMillis(),
                      TimeUnit.MILLISECONDS);
            });
  }

  /** Whether nothing more is to be done about it. */
  private boolean write(PodRef ref, Pod shown, AllocatedCondition condition, Instant now) {
    try {
      @Nullable Pod pod = shown;
      for (int i = 0; i < ATTEMPTS && pod != null && pod.getMetadata().getUid().equals(ref.uid()); i++) {
        Optional<String> version = patched(pod, condition, clock.instant());
        if (version.isPresent()) {
          written.put(ref, new Written(condition, now, version.get()));
          return true;
        }
        pod = client.resource(pod).get();
      }
      written.remove(ref);
      LOG.info("pod {}: other writes came before its condition; trying again later", ref.key());
      return pod == null;
    } catch (RuntimeException e) {
      written.remove(ref);
      if (ApiEdge.isNotFound(e) || ApiEdge.isNamespaceEnding(e) || e instanceof ApiEdge.NotLeadingException) {
        LOG.debug("pod {}: condition not written: {}", ref.key(), e.getMessage());
        return true;
      }
      LOG.warn("pod {}: cannot write condition {}; trying again later: {}", ref.key(), Driver.ALLOCATED_CONDITION,
          e.getMessage());
      return false;
    }
  }

  /**
   * Under the version that was read, for others append conditions too.
   *
   * @return the pod's version with it; empty if the pod has changed since
   */
  private Optional<String> patched(Pod pod, AllocatedCondition condition, Instant now) {
    if (LeftOut.of(pod).contains("status.conditions")) {
      return Optional.empty(); // the pod is read, and written as it is then
    }
    List<PodCondition> conditions = conditions(pod);
    int index = index(conditions);
    String since =
        index >= 0 && condition.status().name().equals(conditions.get(index).getStatus())
            ? Objects.requireNonNullElse(conditions.get(index).getLastTransitionTime(), "")
            : "";
    PodCondition fresh =
        new PodConditionBuilder()
            .withType(Driver.ALLOCATED_CONDITION)
            .withStatus(condition.status().name())
            .withReason(condition.reason())
            .withMessage(condition.message())
            .withLastTransitionTime(since.isEmpty() ? now.truncatedTo(ChronoUnit.SECONDS).toString() : since)
            .build();
    JsonPatch patch = new JsonPatch().replace("/metadata/resourceVersion", pod.getMetadata().getResourceVersion());
    if (pod.getStatus() == null) {
      patch.add("/status", Map.of("conditions", List.of(fresh)));
    } else if (conditions.isEmpty()) {
      patch.add("/status/conditions", List.of(fresh));
    } else if (index < 0) {
      patch.add("/status/conditions/-", fresh);
    } else {
      patch.replace("/status/conditions/" + index, fresh);
    }
    try {
      return Optional
          .of(patch.applyToStatus(client, edge, WriteKind.POD_CONDITION, pod).getMetadata().getResourceVersion());
    } catch (KubernetesClientException e) {
      if (JsonPatch.isOutdated(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static List<PodCondition> conditions(Pod pod) {
    return pod.getStatus() == null ? List.of() : Objects.requireNonNullElse(pod.getStatus().getConditions(), List.of());
  }

  private static int index(List<PodCondition> conditions) {
    for (int i = 0; i < conditions.size(); i++) {
      if (Driver.ALLOCATED_CONDITION.equals(conditions.get(i).getType())) {
        return i;
      }
    }
    return -1;
  }

  private static boolean says(PodCondition shown, AllocatedCondition condition) {
    return condition.status().name().equals(shown.getStatus())
        && condition.reason().equals(shown.getReason())
        && condition.message().equals(shown.getMessage());
  }
}
