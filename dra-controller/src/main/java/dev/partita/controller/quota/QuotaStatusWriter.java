package dev.partita.controller.quota;

import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what is used of every quota into its status, on its own thread: when it has changed, and at most once a second. */
public final class QuotaStatusWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(QuotaStatusWriter.class);
  private static final Duration GATHER = Duration.ofSeconds(1);

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;
  private final EventLoop<String> loop;
  private volatile Map<String, GpuQuotaStatus> latest = Map.of();

  public QuotaStatusWriter(KubernetesClient client, ApiEdge edge, ClusterView view) {
    this.client = client;
    this.edge = edge;
    this.view = view;
    this.loop = new EventLoop<>("quota-status", GATHER, this::write);
    loop.start();
  }

  /** Says, soon, what is used now. */
  public void tell(Map<String, GpuQuotaStatus> statuses) {
    if (!statuses.equals(latest)) {
      latest = Map.copyOf(statuses);
      statuses.keySet().forEach(loop::post);
    }
  }

  @Override
  public void close() {
    loop.close();
  }

  private void write(Set<String> names) {
    Map<String, GpuQuotaStatus> statuses = latest;
    for (String name : names) {
      @Nullable GpuQuota quota = view.quota(name);
      @Nullable GpuQuotaStatus status = statuses.get(name);
      if (quota == null || status == null || status.equals(quota.getStatus())) {
        continue;
      }
      String patch = client.getKubernetesSerialization().asJson(Map.of("status", status));
      try {
        edge.call(
            () -> client.resources(GpuQuota.class).withName(name).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), patch));
      } catch (RuntimeException e) {
        if (!ApiEdge.isNotFound(e)) {
          LOG.warn("gpuquota {}: status not written: {}", name, e.getMessage());
        }
      }
    }
  }
}
