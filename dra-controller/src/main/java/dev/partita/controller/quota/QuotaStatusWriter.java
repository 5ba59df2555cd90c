package dev.partita.controller.quota;

import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what is used of every quota into its status, on a thread of its own: when either changes, and at most once a
 * second. A status that is shown otherwise than it was written is a change as well, whether somebody else wrote it or
 * the watch was behind.
 */
public final class QuotaStatusWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(QuotaStatusWriter.class);
  private static final Duration GATHER = Duration.ofSeconds(1);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
  private static final int MOST_DOUBLINGS = 6;

  private sealed interface Work {
    record Look(String quota) implements Work {}

    /** Its status could not be written, and a while has passed. */
    record Again(String quota) implements Work {}
  }

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;
  private final EventLoop<Work> loop;
  private final Consumer<ClusterEvent> listener;
  // only the loop's thread touches it
  private final Backoff<String> failures = new Backoff<>(AFTER_FAILURE, MOST_DOUBLINGS);
  private volatile Map<String, GpuQuotaStatus> latest = Map.of();

  public QuotaStatusWriter(KubernetesClient client, ApiEdge edge, ClusterView view) {
    this.client = client;
    this.edge = edge;
    this.view = view;
    this.loop = new EventLoop<>("quota-status", GATHER, this::handle);
    this.listener =
        event -> {
          if (event instanceof ClusterEvent.QuotaChanged(String quota)) {
            loop.post(new Work.Look(quota));
          }
        };
    view.listen(listener);
    loop.start();
  }

  /** Says, soon, what is used now. */
  public void tell(Map<String, GpuQuotaStatus> statuses) {
    if (!statuses.equals(latest)) {
      latest = Map.copyOf(statuses);
      statuses.keySet().forEach(quota -> loop.post(new Work.Look(quota)));
    }
  }

  @Override
  public void close() {
    view.unlisten(listener);
    loop.close();
  }

  private void handle(Set<Work> batch) {
    Set<String> names = new LinkedHashSet<>();
    for (Work work : batch) {
      switch (work) {
        case Work.Look(String quota) -> names.add(quota);
        case Work.Again(String quota) -> {
          failures.tried(quota);
          names.add(quota);
        }
      }
    }
    write(names);
  }

  private void write(Set<String> names) {
    Map<String, GpuQuotaStatus> statuses = latest;
    for (String name : names) {
      @Nullable GpuQuota quota = view.quota(name);
      @Nullable GpuQuotaStatus status = statuses.get(name);
      if (quota == null || status == null || status.equals(quota.getStatus())) {
        failures.succeeded(name);
        continue;
      }
      try {
        new JsonPatch().add("/status", status).applyToStatus(client, edge, WriteKind.QUOTA_STATUS, quota);
        failures.succeeded(name);
      } catch (ApiEdge.NotLeadingException e) {
        LOG.debug("gpuquota {}: status left to the next leader", name);
      } catch (RuntimeException e) {
        if (!ApiEdge.isNotFound(e)) {
          LOG.warn("gpuquota {}: cannot write its status: {}", name, e.getMessage());
          failures.failed(name).ifPresent(pause -> loop.postAfter(pause, new Work.Again(name)));
        }
      }
    }
  }
}
