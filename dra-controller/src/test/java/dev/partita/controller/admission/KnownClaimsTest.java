package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.controller.Cluster;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnownClaimsTest {
  private final Cluster cluster = Cluster.empty();
  private final ClusterView showsNothingYet = new ClusterView(cluster.client);
  private final KnownClaims known = new KnownClaims(cluster.client, showsNothingYet);

  @AfterEach
  void close() {
    showsNothingYet.close();
    cluster.close();
  }

  @Test
  void aClaimThatTheViewDoesNotShowYetIsRead() {
    cluster.claim("ours", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.claim("other", "nic.example.com", Map.of());
    assertThat(known.isOurClaim("default", "ours")).isTrue();
    assertThat(known.isOurClaim("default", "other")).isFalse();
    assertThat(known.isOurClaim("elsewhere", "ours")).isFalse();
  }

  @Test
  void aTemplateAndAClassThatTheViewDoesNotShowYetAreRead() {
    cluster.client
        .resource(new DeviceClassBuilder().withNewMetadata().withName("small").endMetadata().withNewSpec()
            .addNewSelector().withNewCel("device.driver == 'gpu.partita.dev'").endSelector().endSpec().build())
        .create();
    cluster.client
        .resource(
            new ResourceClaimTemplateBuilder().withNewMetadata().withName("t").withNamespace("default").endMetadata()
                .withNewSpec().withNewSpec().withNewDevices().addNewRequest().withName("gpu").withNewExactly()
                .withDeviceClassName("small").endExactly().endRequest().endDevices().endSpec().endSpec().build())
        .create();
    assertThat(known.isOurTemplate("default", "t")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"missing", "", "..", "../default/ours", "Ours", "a/b", "a?b", "a%2Fb"})
  void whatIsMissingOrNoNameIsNotOurs(String name) {
    cluster.claim("ours", "gpu.partita.dev", Map.of("memory", "1Gi"));
    assertThat(known.isOurClaim("default", name)).isFalse();
    assertThat(known.isOurTemplate("default", name)).isFalse();
  }

  @Test
  void howeverManyClaimsAPodNamesOnlyAFewAreRead() {
    cluster.claim("ours", "gpu.partita.dev", Map.of("memory", "1Gi"));
    ClaimLookup ofOnePod = known.forOnePod();
    for (int i = 0; i < KnownClaims.MOST_READS; i++) {
      assertThat(ofOnePod.isOurClaim("default", "missing-" + i)).isFalse();
    }
    assertThat(ofOnePod.isOurClaim("default", "ours")).as("not read any more").isFalse();
    assertThat(known.isOurClaim("default", "ours")).as("for the next pod").isTrue();
  }

  @Test
  void whenTheApiServerCannotBeReadItIsNotOurs() {
    cluster.close();
    assertThat(known.isOurClaim("default", "ours")).isFalse();
  }
}
