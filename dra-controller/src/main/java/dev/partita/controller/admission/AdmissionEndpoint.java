package dev.partita.controller.admission;

import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.admission.webhook.PodMutation;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.certificate.CertificateReload;
import dev.partita.controller.certificate.WebhookNames;
import dev.partita.controller.claim.RequestRules;
import dev.partita.controller.state.SchedulerQuotas;
import dev.partita.controller.watch.ClusterView;
import dev.partita.serving.certificate.ServingKeys;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Serves the admission webhooks of one instance. */
public final class AdmissionEndpoint implements AutoCloseable {
  /** Where claims could pass a quota unread. Pods could pass nothing, and not all that are sent are ours. */
  private static final Set<String> STRICT = Set.of("/validate", "/validate-allocations");

  private final ServingKeys keys = new ServingKeys();
  private final SchedulerQuotas quotas;
  private final CertificateReload reload;
  private final AdmissionServer server;

  /**
   * Begins to serve; whom it serves waits until there is a certificate.
   *
   * @param lookup which claims and templates are ours
   * @param port 0 for any free one
   * @param watch looks on at reviews
   * @throws IOException if the port cannot be had
   */
  public AdmissionEndpoint(
      KubernetesClient client,
      ClusterView view,
      ClaimLookup lookup,
      WebhookNames names,
      int port,
      ReviewWatch watch)
      throws IOException {
    this.quotas = new SchedulerQuotas(view);
    this.server =
        AdmissionServer.start(
            port,
            keys,
            Map.of(
                "/mutate-pods", watch.watched("mutate-pods", new PodReview(new PodMutation(lookup))),
                "/validate",
                watch.watched("validate", new ObjectReview(client.getKubernetesSerialization(),
                    new RequestRules(view::deviceClass), quotas::refusal)),
                "/validate-allocations",
                watch.watched("validate-allocations", new AllocationReview(node -> isControllers(view.gpuNode(node)))),
                "/validate-bindings", watch.watched("validate-bindings", new BindingReview(view))),
            STRICT,
            watch::unreviewed);
    this.reload = new CertificateReload(client, names, keys);
  }

  private static boolean isControllers(@Nullable GpuNode node) {
    return node != null
        && Objects.requireNonNullElse(node.getSpec(), GpuNodeSpec.DEFAULT).allocator() == Allocator.Controller;
  }

  public int port() {
    return server.port();
  }

  /** Whether it has a certificate to serve with. */
  public boolean isReady() {
    return keys.isThere();
  }

  /** What is wrong if a review has held up all others for longer than that. For any thread. */
  public Optional<String> stuck(Duration most) {
    return quotas.stuck(most);
  }

  /** Has API servers leave, and answers on; before {@link #awaitDrained}. */
  public void drain() {
    server.drain();
  }

  /**
   * Waits until API servers have left; before {@link #close}.
   *
   * @param going since it was told to stop
   */
  public void awaitDrained(Drain drain, Duration going) {
    long begin = System.nanoTime() - going.toNanos();
    Duration left = drain.left(going, server.unasked());
    try {
      while (left.isPositive()) {
        Thread.sleep(left);
        left = drain.left(Duration.ofNanos(System.nanoTime() - begin), server.unasked());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    server.close();
    reload.close();
    quotas.close();
  }
}
