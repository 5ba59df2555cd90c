package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** API servers and controllers agree on what the webhooks are trusted by, whatever changes. */
@OnRealCluster
@ChangesControllers
class WebhookCertificateIT {
  /**
   * The new certificate is made by the controller that leads and served by all; API servers trust the old one
   * meanwhile.
   */
  @Test
  void answersGoOnWithANewAuthorityAndWithANewController(RealCluster cluster, Workspace workspace) {
    Resource<Secret> certificate =
        cluster.client().secrets().inNamespace(RealCluster.NAMESPACE).withName("partita-webhook-certificate");
    String before = authority(certificate);
    certificate.edit(secret -> new SecretBuilder(secret).removeFromData("ca.key").build());
    await("another authority").atMost(Workspace.PATIENCE).until(() -> authority(certificate),
        now -> !now.isEmpty() && !now.equals(before));
    String trusted = authority(certificate);
    await("API servers to trust it").atMost(Workspace.PATIENCE).until(() -> bundle(cluster), trusted::equals);
    awaitAnswers(workspace);

    new Daemons(cluster.client()).killControllers();
    new Daemons(cluster.client()).awaitController();
    awaitAnswers(workspace);
    assertThat(bundle(cluster)).as("what API servers trust").isEqualTo(trusted);
  }

  private static void awaitAnswers(Workspace workspace) {
    await("an answer").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> AdmissionIT.assertRefuses(workspace, AdmissionIT.WRONG_CONFIG, "coreLimit"));
  }

  private static String authority(Resource<Secret> certificate) {
    Map<String, String> data = Objects.requireNonNull(certificate.get()).getData();
    return data == null || !data.containsKey("ca.key") ? "" : data.getOrDefault("ca.crt", "");
  }

  private static String bundle(RealCluster cluster) {
    return Objects
        .requireNonNull(
            cluster.client().resources(ValidatingWebhookConfiguration.class).withName("partita-webhook").get())
        .getWebhooks()
        .getFirst()
        .getClientConfig()
        .getCaBundle();
  }
}
