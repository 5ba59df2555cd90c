package dev.partita.controller.admission;

import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.Ownership;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which claims and templates are ours. It goes by what the informers have. What they do not have yet, because it
 * was made together with the pod that names it, is read from the API server. A claim is ours if one of its requests is,
 * as for {@link ClaimReader}.
 */
public final class KnownClaims implements ClaimLookup {
  private static final Logger LOG = LoggerFactory.getLogger(KnownClaims.class);

  /** A pod is to be made meanwhile: after that it is taken for one whose claims are not ours. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** Whoever may make pods has this much read; a pod names as many claims as its author likes. */
  static final int MOST_READS = 16;

  /**
   * For how many pods something is read at once, one fewer than are reviewed at once: a request for a pod that never
   * was must not keep those from being reviewed that need nothing read. A pod beyond has claims that are not known.
   */
  static final int READ_FOR = AdmissionServer.AT_ONCE - 1;

  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

  private final KubernetesClient client;
  private final ClusterView view;
  private final Duration patience;
  private final Semaphore reading = new Semaphore(READ_FOR);

  public KnownClaims(KubernetesClient client, ClusterView view) {
    this(client, view, PATIENCE);
  }

  KnownClaims(KubernetesClient client, ClusterView view, Duration patience) {
    this.client = client;
    this.view = view;
    this.patience = patience;
  }

  @Override
  public ClaimLookup forOnePod() {
    return new OfOnePod();
  }

  @Override
  public boolean isOurClaim(String namespace, String claim) {
    return forOnePod().isOurClaim(namespace, claim);
  }

  @Override
  public boolean isOurTemplate(String namespace, String template) {
    return forOnePod().isOurTemplate(namespace, template);
  }

  /** For one thread. */
  private final class OfOnePod implements ClaimLookup {
    private final long end = System.nanoTime() + patience.toNanos();
    private int reads;

    @Override
    public boolean isOurClaim(String namespace, String claim) {
      @Nullable ResourceClaim known = view.claim(new ObjectKey(namespace, claim));
      @Nullable ResourceClaim found =
          known != null ? known : read(claim, client.resources(ResourceClaim.class).inNamespace(namespace)::withName);
      return found != null && Ownership.isOurs(found.getSpec(), this::deviceClass);
    }

    @Override
    public boolean isOurTemplate(String namespace, String template) {
      @Nullable ResourceClaimTemplate known = view.template(new ObjectKey(namespace, template));
      @Nullable ResourceClaimTemplate found =
          known != null
              ? known
              : read(template, client.resources(ResourceClaimTemplate.class).inNamespace(namespace)::withName);
      return found != null && Ownership.isOurs(found.getSpec().getSpec(), this::deviceClass);
    }

    private @Nullable DeviceClass deviceClass(String name) {
      @Nullable DeviceClass known = view.deviceClass(name);
      return known != null ? known : read(name, client.resources(DeviceClass.class)::withName);
    }

    /** Null if there is none, or nobody says in time. */
    private <T extends HasMetadata> @Nullable T read(String name, Function<String, Resource<T>> named) {
      long left = end - System.nanoTime();
      if (!NAME.matcher(name).matches() || left <= 0 || reads == MOST_READS
          || !reading.tryAcquire()) {
        // the pod is not checked yet: this is anything that somebody wrote, and would become part of a path
        return null;
      }
      reads++;
      try {
        return read(named.apply(name), left);
      } finally {
        reading.release();
      }
    }

    private <T extends HasMetadata> @Nullable T read(Resource<T> named, long left) {
      FutureTask<@Nullable T> reading = new FutureTask<>(named::get);
      Thread.ofVirtual().name("admission-lookup").start(reading);
      try {
        return reading.get(left, TimeUnit.NANOSECONDS);
      } catch (ExecutionException | TimeoutException e) {
        LOG.warn("cannot read the claims and templates that a new pod names: {}",
            e.getCause() == null ? "no answer in " + patience.toSeconds() + " s" : e.getCause().getMessage());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      reading.cancel(true);
      return null;
    }
  }
}
