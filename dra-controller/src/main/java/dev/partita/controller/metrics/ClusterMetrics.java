package dev.partita.controller.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.api.Bytes;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.fleet.WaitingPod;
import dev.partita.controller.watch.ClusterView;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import dev.partita.serving.metrics.Source;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tells Prometheus of the cluster as this instance has seen it, whether it leads or not. */
public final class ClusterMetrics implements Source {
  private static final double PERCENT = 0.01;
  private static final String MEMORY = "memory_bytes";
  private static final String CORES = "cores";
  private static final String CARDS = "cards";
  private static final String CLAIMS = "claims";

  private static final Family LEADS = gauge("partita_controller_leads", "Whether this instance leads.");
  private static final Family WATCHED =
      gauge("partita_controller_watched_objects", "Objects of the cluster that this instance holds.", "kind");
  private static final Family WATCHED_BYTES =
      gauge("partita_controller_watched_bytes", "Heap that they take, by estimate.", "kind");
  private static final Family WAITING = gauge("partita_pods_waiting",
      "Pods whose claims are not allocated; the reason of their condition.", "namespace", "reason");
  private static final Family NODES = gauge("partita_gpunodes",
      "GpuNodes; the reason of their condition Ready, NotReported while there is none.", "ready", "reason");
  private static final Family ALL_CARDS = gauge("partita_cards", "Cards that nodes report.", "model", "health");
  private static final Family QUOTA_USED = gauge("partita_quota_used",
      "What the namespaces of a quota have of what a limit counts; cores in cards, so that 2.5 are 250 percent.",
      "quota",
      "limit", "resource");
  private static final Family QUOTA_GUARANTEED =
      gauge("partita_quota_guaranteed", "What they may always have.", "quota", "limit", "resource");
  private static final Family QUOTA_BURST =
      gauge("partita_quota_burst", "What they may have beyond that.", "quota", "limit", "resource");

  private final ClusterView view;
  private final BooleanSupplier leads;

  /** @param leads whether this instance leads now */
  public ClusterMetrics(ClusterView view, BooleanSupplier leads) {
    this.view = view;
    this.leads = leads;
  }

  /** Every family that the controller ever tells, but histograms. */
  public static List<Family> families() {
    List<Family> own =
        List.of(LEADS, WATCHED, WATCHED_BYTES, WAITING, NODES, ALL_CARDS, QUOTA_USED, QUOTA_GUARANTEED, QUOTA_BURST);
    return Stream.of(own, LeaderMetrics.families(), List.of(WriteCounts.WRITES)).flatMap(List::stream).toList();
  }

  @Override
  public void collect(Samples into) {
    into.put(LEADS, leads.getAsBoolean() ? 1 : 0);
    List<Pod> pods = view.pods();
    view.held().forEach((kind, held) -> {
      into.put(WATCHED, held.objects(), kind);
      into.put(WATCHED_BYTES, held.bytes(), kind);
    });
    for (Pod pod : pods) {
      WaitingPod.of(pod).ifPresent(waiting -> into.add(WAITING, 1, waiting.namespace(), waiting.reason()));
    }
    for (GpuNode node : view.gpuNodes()) {
      node(node, into);
    }
    for (GpuQuota quota : view.quotas()) {
      quota(quota, into);
    }
  }

  private static void node(GpuNode node, Samples into) {
    GpuNodeStatus status = node.getStatus();
    Optional<Condition> ready = status == null
        ? Optional.empty()
        : status.conditions().stream().filter(condition -> GpuNode.READY.equals(condition.getType())).findFirst();
    into.add(NODES, 1, String.valueOf(ready.filter(condition -> "True".equals(condition.getStatus())).isPresent()),
        ready.map(Condition::getReason).orElse("NotReported"));
    if (status != null) {
      for (Gpu gpu : status.gpus()) {
        into.add(ALL_CARDS, 1, gpu.model(),
            gpu.health().state() == GpuHealth.State.Healthy ? "healthy" : "unhealthy");
      }
    }
  }

  private static void quota(GpuQuota quota, Samples into) {
    String name = quota.getMetadata().getName();
    if (quota.getSpec() != null) {
      for (GpuQuotaSpec.Limit limit : quota.getSpec().limits()) {
        amounts(QUOTA_GUARANTEED, name, limit.name(), limit.guaranteed(), into);
        amounts(QUOTA_BURST, name, limit.name(), limit.burst(), into);
      }
    }
    if (quota.getStatus() != null) {
      for (GpuQuotaStatus.LimitUse use : quota.getStatus().limits()) {
        amounts(QUOTA_USED, name, use.name(), use.used(), into);
      }
    }
  }

  private static void amounts(Family family, String quota, String limit, Amounts amounts, Samples into) {
    @Nullable Quantity memory = amounts.memory();
    if (memory != null) {
      into.put(family, Bytes.of(memory), quota, limit, MEMORY);
    }
    if (amounts.cores() != null) {
      into.put(family, amounts.cores() * PERCENT, quota, limit, CORES);
    }
    if (amounts.cards() != null) {
      into.put(family, amounts.cards(), quota, limit, CARDS);
    }
    if (amounts.claims() != null) {
      into.put(family, amounts.claims(), quota, limit, CLAIMS);
    }
  }
}
