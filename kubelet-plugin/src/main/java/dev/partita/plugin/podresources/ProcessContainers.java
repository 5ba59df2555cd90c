package dev.partita.plugin.podresources;

import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.usage.measure.HostProcesses;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells in which container a process runs, where several have a device together. A process cannot leave the cgroup of
 * its container, whose name has the UID of the pod and the runtime's id of the container; which container of the pod
 * that is, the pod's status says. The API server is asked in the background, so a first question gets no answer yet.
 */
public final class ProcessContainers {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessContainers.class);

  /** kubelet tells of a container some seconds after it was started. */
  private static final Duration AGAIN = Duration.ofSeconds(5);

  /** A pod of the same name may have taken the place of the one that was read. */
  private static final Duration GOOD_FOR = Duration.ofSeconds(30);

  /** A pod as kubelet names it: without its UID, which the API server tells. */
  private record PodName(String namespace, String name) {
    static PodName of(ContainerRef container) {
      return new PodName(container.namespace(), container.pod());
    }
  }

  /**
   * What is known of a pod.
   *
   * @param uid empty if it was not found
   * @param names of its containers, by the runtime's ids
   * @param when it was asked for last
   */
  private record Known(String uid, Map<String, String> names, Instant when) {}

  private final LongFunction<Optional<HostProcesses.Place>> places;
  private final ClaimReader api;
  private final InstantSource clock;
  private final Map<PodName, Known> known = new ConcurrentHashMap<>();
  private final AtomicBoolean asking = new AtomicBoolean();

  /**
   * Made once.
   *
   * @param places in whose cgroup a process is, by its pid
   * @param clock one that cannot be set
   */
  public ProcessContainers(
      LongFunction<Optional<HostProcesses.Place>> places,
      ClaimReader api,
      InstantSource clock) {
    this.places = places;
    this.api = api;
    this.clock = clock;
  }

  /**
   * The one of some containers in which a process runs.
   *
   * @return empty if it runs in none of them, or that is not known yet
   */
  public Optional<ContainerRef> of(long pid, List<ContainerRef> containers) {
    return places.apply(pid).flatMap(place -> among(place, containers));
  }

  private Optional<ContainerRef> among(HostProcesses.Place place, List<ContainerRef> containers) {
    Set<PodName> pods = containers.stream().map(PodName::of).collect(Collectors.toSet());
    for (PodName pod : pods) {
      Known its = known.get(pod);
      if (its != null && its.uid().equals(place.podUid())) {
        String name = its.names().get(place.container());
        if (name == null) {
          ask(Set.of(pod), AGAIN);
          return Optional.empty();
        }
        return Optional.of(new ContainerRef(pod.namespace(), pod.name(), name)).filter(containers::contains);
      }
    }
    ask(pods, GOOD_FOR);
    return Optional.empty();
  }

  /** Asks for those that were not asked for lately, unless it does so already. */
  private void ask(Set<PodName> pods, Duration lately) {
    Instant now = clock.instant();
    List<PodName> due = pods.stream().filter(pod -> {
      Known its = known.get(pod);
      return its == null || its.when().plus(lately).isBefore(now);
    }).toList();
    if (!due.isEmpty() && asking.compareAndSet(false, true)) {
      known.values().removeIf(its -> its.when().plus(GOOD_FOR.multipliedBy(10)).isBefore(now));
      Thread.ofVirtual().name("process-containers").start(() -> {
        try {
          due.forEach(pod -> known.put(pod, read(pod, now)));
        } catch (RuntimeException e) { // a client that was closed meanwhile throws others than KubernetesClientException
          LOG.debug("whose processes are in which container is not known", e);
        } finally {
          asking.set(false);
        }
      });
    }
  }

  private Known read(PodName name, Instant asked) {
    Optional<Pod> pod = api.pod(name.namespace(), name.name());
    Map<String, String> names =
        pod.map(Pod::getStatus).stream().flatMap(ProcessContainers::statuses)
            .filter(status -> status.getContainerID() != null)
            .collect(Collectors.toMap(status -> idOf(status.getContainerID()), ContainerStatus::getName,
                (first, second) -> first));
    return new Known(pod.map(its -> its.getMetadata().getUid()).orElse(""), names, asked);
  }

  private static Stream<ContainerStatus> statuses(PodStatus status) {
    return Stream.of(status.getContainerStatuses(), status.getInitContainerStatuses()).flatMap(List::stream);
  }

  /** Without the runtime's name, as in {@code containerd://<id>}. */
  private static String idOf(String containerId) {
    return containerId.substring(containerId.lastIndexOf('/') + 1);
  }
}
