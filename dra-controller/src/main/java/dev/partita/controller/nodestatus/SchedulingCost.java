package dev.partita.controller.nodestatus;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Says whether a node's slices make kube-scheduler slow. Before Kubernetes 1.37 one slice with counters makes every
 * scheduling attempt of every pod with claims quadratic in nodes, whoever owns the claims (kubernetes pull request
 * 138917 repairs that).
 */
public final class SchedulingCost {
  /** Nodes from which on an attempt takes a fifth of a second and more. */
  private static final int NODES = 100;

  /** First minor version of Kubernetes 1 in which counters cost no more than other devices. */
  static final int REPAIRED_IN = 37;

  private SchedulingCost() {}

  /** Whether counters matter in a cluster of so many nodes. */
  public static boolean isSlowFor(int nodes) {
    return nodes >= NODES;
  }

  /**
   * The condition that the GpuNode is to have; empty for none.
   *
   * @param nodes of the cluster
   * @param minor of the API server's version 1.minor; empty if that is not known
   */
  static Optional<Condition> condition(GpuHost host, int nodes, OptionalInt minor, GpuNode node, Instant now) {
    if (!SlicePlan.hasCounters(host) || !isSlowFor(nodes) || minor.isEmpty() || minor.getAsInt() >= REPAIRED_IN) {
      return Optional.empty();
    }
    String message =
        "kube-scheduler allocates here and cards are offered in several modes, which takes shared counters: before Kubernetes 1."
            + REPAIRED_IN
            + " they slow down the scheduling of every pod with claims, with the square of the nodes, and this cluster (1."
            + minor.getAsInt()
            + ") has " + nodes
            + ". Publish one mode (spec.publish), or let Partita's controller allocate (spec.allocator)";
    String since =
        present(node).filter(c -> "True".equals(c.getStatus())).map(Condition::getLastTransitionTime)
            .orElse(now.truncatedTo(ChronoUnit.SECONDS).toString());
    return Optional.of(
        new ConditionBuilder()
            .withType(GpuNode.SLOW_SCHEDULING)
            .withStatus("True")
            .withReason("SharedCounters")
            .withMessage(message)
            .withLastTransitionTime(since)
            .build());
  }

  /** The condition that the GpuNode has. */
  static Optional<Condition> present(GpuNode node) {
    return Optional.ofNullable(node.getStatus()).stream()
        .flatMap(status -> status.conditions().stream())
        .filter(condition -> Objects.equals(condition.getType(), GpuNode.SLOW_SCHEDULING))
        .findFirst();
  }

  /** The minor version in what a server says of itself: {@code 36}, or {@code 36+}. */
  static OptionalInt minor(String major, String text) {
    String digits = text.replaceAll("[^0-9].*$", "");
    return major.equals("1") && !digits.isEmpty() && digits.length() < 6
        ? OptionalInt.of(Integer.parseInt(digits))
        : OptionalInt.empty();
  }
}
