package dev.partita.controller.certificate;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** What the chart makes for the webhook, in a cluster. */
public record WebhookObjects(KubernetesClient client) {
  public static final WebhookNames NAMES = new WebhookNames("partita-system", "partita-webhook");

  /** Makes all of it, as the chart does. */
  public WebhookObjects make() {
    secret("Opaque", Map.of());
    client
        .resource(
            new MutatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .withName(NAMES.service())
                .endMetadata()
                .addNewWebhook()
                .withName("pods.gpu.partita.dev")
                .withNewClientConfig()
                .withNewService(NAMES.service(), NAMES.namespace(), "/mutate-pods", 443)
                .endClientConfig()
                .endWebhook()
                .build())
        .create();
    ValidatingWebhookConfigurationBuilder validating =
        new ValidatingWebhookConfigurationBuilder().withNewMetadata().withName(NAMES.service()).endMetadata();
    for (String name : List.of("claims.gpu.partita.dev", "objects.gpu.partita.dev")) {
      validating
          .addNewWebhook()
          .withName(name)
          .withNewClientConfig()
          .withNewService(NAMES.service(), NAMES.namespace(), "/validate", 443)
          .endClientConfig()
          .endWebhook();
    }
    client.resource(validating.build()).create();
    return this;
  }

  void secret(String type, Map<String, String> data) {
    client
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withNamespace(NAMES.namespace())
                .withName(NAMES.secret())
                .endMetadata()
                .withType(type)
                .withData(data)
                .build())
        .create();
  }

  Secret secret() {
    return Objects.requireNonNull(client.secrets().inNamespace(NAMES.namespace()).withName(NAMES.secret()).get());
  }

  CertificateState state() {
    return CertificateState.read(secret().getData());
  }

  /** Writes the Secret, and so has it looked at. */
  void touch(Map<String, String> annotations) {
    client
        .secrets()
        .inNamespace(NAMES.namespace())
        .withName(NAMES.secret())
        .edit(secret -> new SecretBuilder(secret).editMetadata().addToAnnotations(annotations).endMetadata().build());
  }

  /** What each of the three webhooks trusts. */
  List<String> bundles() {
    MutatingWebhookConfiguration mutating =
        client.resources(MutatingWebhookConfiguration.class).withName(NAMES.service()).get();
    ValidatingWebhookConfiguration validating =
        client.resources(ValidatingWebhookConfiguration.class).withName(NAMES.service()).get();
    return Stream.concat(
        mutating.getWebhooks().stream().map(webhook -> String.valueOf(webhook.getClientConfig().getCaBundle())),
        validating.getWebhooks().stream().map(webhook -> String.valueOf(webhook.getClientConfig().getCaBundle())))
        .toList();
  }

  /** Whether all webhooks trust what the Secret holds, and there is a certificate to serve with. */
  public boolean areComplete() {
    CertificateState state = state();
    return state.serving().isPresent() && bundles().stream().allMatch(state.caBundle()::equals);
  }

  /** Puts a certificate into the Secret, as somebody else who keeps it would. */
  public void give(MadeCertificates made) {
    CertificateState given = new CertificateState(Optional.empty(), made.trusted(), Optional.of(made.serving()));
    client.secrets().inNamespace(NAMES.namespace()).withName(NAMES.secret())
        .edit(secret -> new SecretBuilder(secret).withData(given.data()).build());
  }

  /** Whether nobody has written the Secret or a configuration. */
  public boolean areAsMade() {
    return Objects.requireNonNullElse(secret().getData(), Map.of()).isEmpty()
        && bundles().stream().allMatch("null"::equals);
  }

  /** What an API server trusts. */
  public List<java.security.cert.X509Certificate> trusted() {
    return state().bundle();
  }
}
