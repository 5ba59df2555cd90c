package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.controller.Cluster;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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

  /** Whoever reaches the webhooks can ask about pods that never were, and what is read for them takes a place. */
  @Test
  void whereMuchIsReadForOthersAClaimThatIsNotKnownIsNotWaitedFor() throws InterruptedException {
    AtomicInteger asked = new AtomicInteger();
    CountDownLatch answers = new CountDownLatch(1);
    Interceptor hangs = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        asked.incrementAndGet();
        try {
          answers.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    };
    List<Thread> others = new ArrayList<>();
    try (KubernetesClient slow = new KubernetesClientBuilder().withConfig(cluster.client.getConfiguration())
        .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", hangs)).build()) {
      KnownClaims reading = new KnownClaims(slow, showsNothingYet, Duration.ofMinutes(5));
      for (int i = 0; i < KnownClaims.READ_FOR; i++) {
        others.add(Thread.ofVirtual().start(() -> reading.isOurClaim("default", "missing")));
      }
      Cluster.eventually().until(() -> asked.get() == KnownClaims.READ_FOR);
      Thread another = Thread.ofVirtual().start(() -> reading.isOurClaim("default", "missing"));
      assertThat(another.join(Duration.ofMinutes(1))).as("it is not read").isTrue();
      assertThat(asked).hasValue(KnownClaims.READ_FOR);
      answers.countDown();
      for (Thread other : others) {
        other.join();
      }
      cluster.claim("ours", "gpu.partita.dev", Map.of("memory", "1Gi"));
      assertThat(reading.isOurClaim("default", "ours")).as("later").isTrue();
    }
  }

  @Test
  void whenTheApiServerCannotBeReadItIsNotOurs() {
    cluster.close();
    assertThat(known.isOurClaim("default", "ours")).isFalse();
  }
}
