package dev.partita.controller.nodes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.math.RoundingMode;
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
   * sidecars before it, whichever is more; plus overhead; or what the pod requests as a whole.
   */
  public static PodRequests of(Pod pod) {
    var spec = pod.getSpec();
    PodRequests sidecars = NONE;
    PodRequests start = NONE;
    for (Container init : spec.getInitContainers()) {
      PodRequests own = requests(init.getResources());
      if ("Always".equals(init.getRestartPolicy())) {
        sidecars = sidecars.plus(own);
        start = start.max(sidecars);
      } else {
        start = start.max(sidecars.plus(own));
      }
    }
    PodRequests running = sidecars;
    for (Container container : spec.getContainers()) {
      running = running.plus(requests(container.getResources()));
    }
    PodRequests all = running.max(start);
    ResourceRequirements ofPod = spec.getResources();
    if (ofPod != null && ofPod.getRequests() != null) {
      all =
          new PodRequests(
              ofPod.getRequests().containsKey("cpu") ? milli(ofPod.getRequests(), "cpu") : all.milliCpu,
              ofPod.getRequests().containsKey("memory") ? whole(ofPod.getRequests(), "memory") : all.memory,
              0);
    }
    if (spec.getOverhead() != null) {
      all = all.plus(new PodRequests(milli(spec.getOverhead(), "cpu"), whole(spec.getOverhead(), "memory"), 0));
    }
    return new PodRequests(all.milliCpu, all.memory, 1);
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

  PodRequests minus(PodRequests other) {
    return new PodRequests(milliCpu - other.milliCpu, memory - other.memory, pods - other.pods);
  }

  private PodRequests max(PodRequests other) {
    return new PodRequests(Math.max(milliCpu, other.milliCpu), Math.max(memory, other.memory),
        Math.max(pods, other.pods));
  }

  private static PodRequests requests(@Nullable ResourceRequirements resources) {
    Map<String, Quantity> requests = resources == null ? null : resources.getRequests();
    return requests == null ? NONE : new PodRequests(milli(requests, "cpu"), whole(requests, "memory"), 0);
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
    BigDecimal scaled = quantity.getNumericalAmount().movePointRight(scale).setScale(0, RoundingMode.CEILING);
    return scaled.min(MOST).longValue();
  }
}
