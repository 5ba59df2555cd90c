package dev.partita.controller.nodes;

import dev.partita.api.Amount;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * CPU and memory that a pod requests, or that a node offers.
 *
 * @param milliCpu thousandths of a CPU
 * @param memory bytes
 * @param pods how many pods
 */
public record PodRequests(long milliCpu, long memory, long pods) {
  static final PodRequests NONE = new PodRequests(0, 0, 0);

  /** What counts of an amount, however large: very many can be added up, and no node has as much. */
  private static final BigDecimal MOST = BigDecimal.valueOf(1L << 53);

  /**
   * What kube-scheduler counts for the pod: containers and sidecars together, or the largest init container with the
   * sidecars before it, whichever is more (KEP-753), and what devices of its claims take of the node (KEP-5517); or
   * what the pod requests as a whole; plus overhead. Of what is being resized in place it counts the most of what is
   * asked for, allocated and in force (KEP-1287).
   */
  public static PodRequests of(Pod pod) {
    return of(pod, pod.getStatus() == null ? EffectiveRequests.NO_STATUS : EffectiveRequests.of(pod.getStatus()));
  }

  /**
   * Takes away what the pod's status says of CPU and memory, if the pod requests as much without it: as all pods do
   * that are not being resized.
   */
  public static void dropStatusThatChangesNothing(Pod pod) {
    PodStatus status = pod.getStatus();
    if (status != null && pod.getSpec() != null && of(pod).equals(of(pod, EffectiveRequests.NO_STATUS))) {
      status.setContainerStatuses(List.of());
      status.setInitContainerStatuses(List.of());
      status.setAllocatedResources(Map.of());
      status.setResources(null);
    }
  }

  private static PodRequests of(Pod pod, EffectiveRequests effective) {
    PodSpec spec = pod.getSpec();
    PodRequests sidecars = NONE;
    PodRequests start = NONE;
    for (Container init : spec.getInitContainers()) {
      if ("Always".equals(init.getRestartPolicy())) {
        sidecars = sidecars.plus(effective.of(init));
        start = start.max(sidecars);
      } else {
        start = start.max(sidecars.plus(requests(init.getResources())));
      }
    }
    PodRequests running = sidecars;
    for (Container container : spec.getContainers()) {
      running = running.plus(effective.of(container));
    }
    PodRequests all = running.max(start).plus(ResourcesOfClaims.of(pod.getStatus()));
    ResourceRequirements ofPod = spec.getResources();
    if (ofPod != null && ofPod.getRequests() != null) {
      PodRequests whole = effective.ofPod(ofPod);
      all =
          new PodRequests(
              ofPod.getRequests().containsKey("cpu") ? whole.milliCpu : all.milliCpu,
              ofPod.getRequests().containsKey("memory") ? whole.memory : all.memory,
              0);
    }
    return new PodRequests(all.milliCpu, all.memory, 1).plus(amounts(spec.getOverhead()));
  }

  /** What the node has to give; without limit where it does not say. */
  static PodRequests allocatable(Node node) {
    Map<String, Quantity> allocatable = node.getStatus() == null ? null : node.getStatus().getAllocatable();
    if (allocatable == null) {
      return new PodRequests(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
    }
    return new PodRequests(
        allocatable.containsKey("cpu") ? milli(allocatable, "cpu") : Long.MAX_VALUE,
        allocatable.containsKey("memory") ? whole(allocatable, "memory") : Long.MAX_VALUE,
        allocatable.containsKey("pods") ? whole(allocatable, "pods") : Long.MAX_VALUE);
  }

  PodRequests plus(PodRequests other) {
    return new PodRequests(milliCpu + other.milliCpu, memory + other.memory, pods + other.pods);
  }

  PodRequests times(int factor) {
    return new PodRequests(milliCpu * factor, memory * factor, pods * factor);
  }

  PodRequests minus(PodRequests other) {
    return new PodRequests(milliCpu - other.milliCpu, memory - other.memory, pods - other.pods);
  }

  PodRequests max(PodRequests other) {
    return new PodRequests(Math.max(milliCpu, other.milliCpu), Math.max(memory, other.memory),
        Math.max(pods, other.pods));
  }

  static PodRequests requests(@Nullable ResourceRequirements resources) {
    return resources == null ? NONE : amounts(resources.getRequests());
  }

  static PodRequests amounts(@Nullable Map<String, Quantity> amounts) {
    return amounts == null ? NONE : new PodRequests(milli(amounts, "cpu"), whole(amounts, "memory"), 0);
  }

  private static long milli(Map<String, Quantity> amounts, String name) {
    return amount(amounts.get(name), 3);
  }

  private static long whole(Map<String, Quantity> amounts, String name) {
    return amount(amounts.get(name), 0);
  }

  private static long amount(@Nullable Quantity quantity, int scale) {
    if (quantity == null) {
      return 0;
    }
    try {
      return Amount.of(quantity).movePointRight(scale).setScale(0, RoundingMode.CEILING).min(MOST).longValue();
    } catch (IllegalArgumentException e) {
      return MOST.longValue(); // the API server keeps what it can read: it is a number of very many digits
    }
  }
}
