package dev.partita.controller.certificate;

import dev.partita.serving.certificate.KeyedCertificate;
import dev.partita.serving.certificate.ServingKeys;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves with the certificate that the Secret holds, whoever wrote it, in every instance and without a restart. A
 * certificate that cannot be used changes nothing.
 */
public final class CertificateReload implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CertificateReload.class);

  private final WebhookNames names;
  private final ServingKeys keys;
  private final SharedIndexInformer<Secret> informer;
  private String used = "";

  /** Begins to watch, and does not wait for the Secret. */
  public CertificateReload(KubernetesClient client, WebhookNames names, ServingKeys keys) {
    this.names = names;
    this.keys = keys;
    this.informer = client.secrets().inNamespace(names.namespace()).withName(names.secret()).runnableInformer(0);
    informer.exceptionHandler(
        (started, problem) -> {
          LOG.warn("secret {}/{}: {}; trying again", names.namespace(), names.secret(), problem.getMessage());
          return true;
        });
    informer.addEventHandler(
        new ResourceEventHandler<Secret>() {
          @Override
          public void onAdd(Secret secret) {
            read(secret);
          }

          @Override
          public void onUpdate(Secret before, Secret after) {
            read(after);
          }

          @Override
          public void onDelete(Secret secret, boolean unknown) {
            LOG.warn("secret {}/{} was deleted; the webhook keeps its last certificate", names.namespace(),
                names.secret());
          }
        });
    var _ = informer.start();
  }

  @Override
  public void close() {
    informer.close();
  }

  private synchronized void read(Secret secret) {
    Optional<KeyedCertificate> serving = CertificateState.read(secret.getData()).serving();
    if (serving.isEmpty()) {
      String consequence = keys.isThere() ? "what it held before goes on to be used" : "API servers are not answered";
      CertificateState.problem(secret.getData())
          .ifPresent(why -> LOG.warn("secret {}/{}: {}; {}", names.namespace(), names.secret(), why, consequence));
      return;
    }
    if (!used.equals(serving.get().toString())) {
      used = serving.get().toString();
      keys.use(serving.get());
      LOG.info("the webhook serves with the certificate {}", used);
    }
  }
}
