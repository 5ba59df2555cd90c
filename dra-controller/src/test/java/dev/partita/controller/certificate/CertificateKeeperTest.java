package dev.partita.controller.certificate;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.Cluster;
import dev.partita.controller.HeldClock;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.serving.certificate.CertificateAuthority;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CertificateKeeperTest {
  /** After which less than a third of a serving certificate's life is left. */
  private static final Duration SERVED = Duration.ofDays(61);

  private final Cluster cluster = Cluster.empty();
  private final WebhookObjects objects = new WebhookObjects(cluster.client);
  private final HeldClock clock = new HeldClock(Instant.parse("2026-01-01T00:00:00Z"));
  private final CertificateKeeper keeper =
      new CertificateKeeper(cluster.client, new ApiEdge(() -> true), WebhookObjects.NAMES, clock);

  @AfterEach
  void close() {
    cluster.awaitQuiet();
    keeper.close();
    cluster.close();
  }

  @Test
  void anEmptySecretIsFilledAndTrusted() {
    objects.make();
    keeper.start();
    eventually().until(objects::areComplete);
    CertificateState state = objects.state();
    assertThat(objects.secret().getData()).containsOnlyKeys("ca.crt", "ca.key", "tls.crt", "tls.key");
    assertThat(CertificateAuthority.vouches(state.bundle().getFirst(), state.serving().orElseThrow().certificate()))
        .isTrue();
    assertThat(objects.bundles()).hasSize(3);
  }

  @Test
  void duringARotationBothAuthoritiesAreTrustedAndWhatIsServedIsTrustedAtEveryMoment() {
    objects.make();
    keeper.start();
    eventually().until(objects::areComplete);
    CertificateState before = objects.state();

    for (int i = 0; i < 11; i++) {
      renewServing(i);
    }
    CertificateState old = objects.state();
    assertThat(old.bundle()).as("the authority is the first one").isEqualTo(before.bundle());
    clock.advance(SERVED);
    objects.touch(Map.of("at", "rotation"));
    eventually().until(() -> objects.state().bundle().size() == 2 && objects.areComplete());
    assertThat(objects.state().serving()).as("it is not changed before API servers trust its authority")
        .isEqualTo(old.serving());
    assertThat(objects.state().bundle().getLast()).isEqualTo(old.bundle().getFirst());

    clock.advance(CertificatePlan.SPREAD);
    objects.touch(Map.of("at", "spread"));
    eventually().until(() -> !objects.state().serving().equals(old.serving()));
    CertificateState after = objects.state();
    assertThat(CertificateAuthority.vouches(after.bundle().getFirst(), after.serving().orElseThrow().certificate()))
        .isTrue();
    assertThat(after.bundle()).hasSize(2);
  }

  private void renewServing(int round) {
    CertificateState last = objects.state();
    clock.advance(SERVED);
    objects.touch(Map.of("at", "round-" + round));
    eventually().until(() -> !objects.state().serving().equals(last.serving()));
  }

  @Test
  void aConfigurationThatLostItsTrustIsRepaired() {
    objects.make();
    keeper.start();
    eventually().until(objects::areComplete);
    cluster.client
        .resources(MutatingWebhookConfiguration.class)
        .withName(WebhookObjects.NAMES.service())
        .edit(
            configuration -> new MutatingWebhookConfigurationBuilder(configuration)
                .editFirstWebhook()
                .editClientConfig()
                .withCaBundle("bm9ib2R5")
                .endClientConfig()
                .endWebhook()
                .build());
    eventually().until(objects::areComplete);
  }

  @Test
  void aSecretThatIsDamagedIsMadeAnew() {
    objects.make();
    keeper.start();
    eventually().until(objects::areComplete);
    CertificateState before = objects.state();
    cluster.client
        .secrets()
        .inNamespace(WebhookObjects.NAMES.namespace())
        .withName(WebhookObjects.NAMES.secret())
        .edit(secret -> new SecretBuilder(secret).withData(Map.of("tls.crt", "AAAA", "left.over", "AAAA")).build());
    eventually().until(objects::areComplete);
    assertThat(objects.state().bundle()).doesNotContainAnyElementsOf(before.bundle());
    assertThat(objects.secret().getData()).doesNotContainKey("left.over");
  }

  @Test
  void aSecretOfSomebodyElseIsLeftAsItIs() {
    objects.make();
    CertificateState theirs =
        CertificateState.EMPTY.with(CertificateAuthority.make(clock.instant().minus(Duration.ofDays(2000))));
    cluster.client.secrets().inNamespace(WebhookObjects.NAMES.namespace()).withName(WebhookObjects.NAMES.secret())
        .delete();
    objects.secret(CertificateState.TLS_TYPE, theirs.data());
    keeper.start();
    objects.touch(Map.of("at", "all"));
    cluster.awaitQuiet();
    assertThat(objects.secret().getData()).isEqualTo(theirs.data());
    assertThat(objects.bundles()).containsOnly("null");
  }

  @Test
  void aSecretThatIsMissingIsFilledWhenItComes() {
    objects.make();
    cluster.client.secrets().inNamespace(WebhookObjects.NAMES.namespace()).withName(WebhookObjects.NAMES.secret())
        .delete();
    keeper.start();
    objects.secret("Opaque", Map.of());
    eventually().until(objects::areComplete);
  }
}
