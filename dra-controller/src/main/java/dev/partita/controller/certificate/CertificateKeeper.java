package dev.partita.controller.certificate;

import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.watch.EventLoop;
import dev.partita.serving.certificate.CertificateAuthority;
import dev.partita.serving.certificate.KeyedCertificate;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes and renews the certificates in the webhook's Secret, and lets both webhook configurations trust them, during
 * one term of leadership. It looks when the Secret or a configuration changes, and when something is due. A Secret of
 * type {@code kubernetes.io/tls} belongs to somebody else: then it touches neither the Secret nor the configurations.
 */
public final class CertificateKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CertificateKeeper.class);
  private static final Duration GATHER = Duration.ofMillis(50);
  private static final Duration RETRY = Duration.ofSeconds(5);

  /** It looks at least that often, since clocks are put right. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private record Look() {}

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final WebhookNames names;
  private final Clock clock;
  private final EventLoop<Look> loop;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("certificate-timer").daemon().factory());
  private final List<SharedIndexInformer<?>> informers;
  private Future<?> next = CompletableFuture.completedFuture(null);
  private boolean warned;

  public CertificateKeeper(KubernetesClient client, ApiEdge edge, WebhookNames names, Clock clock) {
    this.client = client;
    this.edge = edge;
    this.names = names;
    this.clock = clock;
    this.loop = new EventLoop<>("certificates", GATHER, looks -> look());
    this.informers =
        List.of(
            watched(client.secrets().inNamespace(names.namespace()).withName(names.secret()).runnableInformer(0)),
            watched(client.resources(MutatingWebhookConfiguration.class).withName(names.service()).runnableInformer(0)),
            watched(
                client.resources(ValidatingWebhookConfiguration.class).withName(names.service()).runnableInformer(0)));
  }

  /** Begins. */
  public void start() {
    loop.start();
    loop.post(new Look());
    informers.forEach(SharedIndexInformer::start);
  }

  @Override
  public void close() {
    timer.shutdownNow();
    informers.forEach(SharedIndexInformer::close);
    loop.close();
  }

  private void look() {
    try {
      Duration pause = Duration.between(clock.instant(), kept());
      again(pause.compareTo(LONGEST) > 0 ? LONGEST : pause);
    } catch (RuntimeException e) {
      LOG.warn("cannot keep the webhook's certificate up to date: {}; trying again", e.getMessage());
      again(RETRY);
    }
  }

  /** Instead of what was set up before: each look sets up one, also those that an event brought about. */
  private void again(Duration pause) {
    if (!timer.isShutdown()) {
      next.cancel(false);
      next = timer.schedule(() -> loop.post(new Look()), Math.max(pause.toMillis(), RETRY.toMillis() / 5),
          TimeUnit.MILLISECONDS);
    }
  }

  /** Does what is due; gives when something is due again. */
  private Instant kept() {
    Instant now = clock.instant();
    @Nullable Secret secret = client.secrets().inNamespace(names.namespace()).withName(names.secret()).get();
    if (secret == null || CertificateState.TLS_TYPE.equals(secret.getType())) {
      if (secret == null && !warned) {
        LOG.warn("secret {}/{} is missing, so the webhook has no certificate; the chart makes the secret",
            names.namespace(), names.secret());
      }
      warned = secret == null;
      return now.plus(LONGEST);
    }
    CertificateState state = CertificateState.read(secret.getData());
    boolean changed = false;
    CertificateStep step = next(state, now);
    while (!(step instanceof CertificateStep.Wait)) {
      state = done(step, state, now);
      changed = true;
      step = next(state, now);
    }
    if (changed) {
      store(secret, state);
    }
    trust(state.caBundle());
    return ((CertificateStep.Wait) step).until();
  }

  private CertificateStep next(CertificateState state, Instant now) {
    boolean trusted =
        state.authority().isPresent() && configurations().stream().allMatch(each -> each.trusts(state.caBundle()));
    return CertificatePlan.next(state, trusted, names.dnsName(), now);
  }

  private CertificateState done(CertificateStep step, CertificateState state, Instant now) {
    return switch (step) {
      case CertificateStep.Wait _ -> state;
      case CertificateStep.ForgetOver _ -> state.withoutOver(now);
      case CertificateStep.NewAuthority(String why) -> {
        LOG.info("making a new certificate authority for the webhook: {}", why);
        yield state.with(CertificateAuthority.make(now));
      }
      case CertificateStep.NewServing(String why) -> {
        KeyedCertificate serving = state.authority().orElseThrow().issue(names.dnsName(), now);
        LOG.info("making a new certificate for the webhook, {}: {}", serving, why);
        yield state.with(serving);
      }
    };
  }

  /** Under the version that was read, so that of two that believe that they lead one has to look again. */
  private void store(Secret secret, CertificateState state) {
    Secret next = new SecretBuilder(secret).withData(state.data()).build();
    edge.write(WriteKind.CERTIFICATE, () -> client.resource(next).update());
  }

  private void trust(String caBundle) {
    for (Configuration each : configurations()) {
      if (!each.trusts(caBundle)) {
        each.patch(caBundle).apply(client, edge, WriteKind.CERTIFICATE, each.object());
        LOG.info("{} {} now trusts the webhook's certificate authority", each.object().getKind(), names.service());
      }
    }
  }

  /** A webhook configuration and what each of its webhooks trusts. */
  private record Configuration(HasMetadata object, List<String> bundles) {
    boolean trusts(String caBundle) {
      return bundles.stream().allMatch(caBundle::equals);
    }

    JsonPatch patch(String caBundle) {
      JsonPatch patch = new JsonPatch().replace("/metadata/resourceVersion", object.getMetadata().getResourceVersion());
      for (int i = 0; i < bundles.size(); i++) {
        patch.add("/webhooks/" + i + "/clientConfig/caBundle", caBundle);
      }
      return patch;
    }
  }

  private List<Configuration> configurations() {
    List<Configuration> found = new java.util.ArrayList<>();
    @Nullable MutatingWebhookConfiguration mutating =
        client.resources(MutatingWebhookConfiguration.class).withName(names.service()).get();
    if (mutating != null) {
      found.add(new Configuration(mutating,
          mutating.getWebhooks().stream().map(w -> String.valueOf(w.getClientConfig().getCaBundle())).toList()));
    }
    @Nullable ValidatingWebhookConfiguration validating =
        client.resources(ValidatingWebhookConfiguration.class).withName(names.service()).get();
    if (validating != null) {
      found.add(new Configuration(validating,
          validating.getWebhooks().stream().map(w -> String.valueOf(w.getClientConfig().getCaBundle())).toList()));
    }
    return found;
  }

  private <T extends HasMetadata> SharedIndexInformer<T> watched(SharedIndexInformer<T> informer) {
    informer.exceptionHandler(
        (started, problem) -> {
          LOG.warn("cannot watch the webhook's objects: {}; trying again", problem.getMessage());
          return true;
        });
    informer.addEventHandler(
        new ResourceEventHandler<T>() {
          @Override
          public void onAdd(T object) {
            loop.post(new Look());
          }

          @Override
          public void onUpdate(T before, T after) {
            loop.post(new Look());
          }

          @Override
          public void onDelete(T object, boolean unknown) {
            loop.post(new Look());
          }
        });
    return informer;
  }
}
