package dev.partita.cli.demo.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.partita.cli.command.Waiting;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What components rely on in an API server, and have of this one. */
class ApiServerTest {
  private static ApiServer api;
  private static KubernetesClient client;

  @BeforeAll
  static void start() {
    api = ApiServer.start();
    client = api.client();
  }

  @AfterAll
  static void stop() {
    client.close();
    api.close();
  }

  private static ResourceClaim claim(String name) {
    return client
        .resource(new ResourceClaimBuilder().withNewMetadata().withNamespace("default").withName(name).endMetadata()
            .withNewSpec().endSpec().build())
        .create();
  }

  @Test
  void aClientMakesNoRequestTwiceForWhatWasDoneWouldBeAConflict() {
    assertThat(client.getConfiguration().getRequestRetryBackoffLimit()).isZero();
  }

  private static Resource<ResourceClaim> named(String name) {
    return client.resources(ResourceClaim.class).inNamespace("default").withName(name);
  }

  private static ResourceClaim allocated(ResourceClaim claim, String timestamp) {
    return new ResourceClaimBuilder(claim)
        .withNewStatus()
        .withNewAllocation()
        .withAllocationTimestamp(timestamp)
        .endAllocation()
        .endStatus()
        .build();
  }

  @Test
  void aStatusThatWasReadTooLongAgoIsAConflict() {
    ResourceClaim stale = claim("stale");
    client.resource(allocated(stale, "2026-01-01T00:00:00Z")).updateStatus();

    assertThatThrownBy(() -> client.resource(allocated(stale, "2026-02-02T00:00:00Z")).updateStatus())
        .isInstanceOfSatisfying(KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(409));
    assertThat(named("stale").require().getStatus().getAllocation().getAllocationTimestamp())
        .isEqualTo("2026-01-01T00:00:00Z");
  }

  @Test
  void aStatusUpdateLeavesTheMetadataAlone() {
    ResourceClaim claim = claim("metadata");
    claim.getMetadata().getFinalizers().add("example.com/finalizer");

    client.resource(allocated(claim, "2026-01-01T00:00:00Z")).updateStatus();

    assertThat(named("metadata").require().getMetadata().getFinalizers()).isEmpty();
  }

  @Test
  void anUpdateOfTheObjectLeavesTheStatusAlone() {
    ResourceClaim claim = client.resource(allocated(claim("kept"), "2026-01-01T00:00:00Z")).updateStatus();
    claim.setStatus(null);
    claim.getMetadata().getFinalizers().add("example.com/finalizer");

    client.resource(claim).update();

    assertThat(named("kept").require().getStatus().getAllocation()).isNotNull();
    assertThat(named("kept").require().getMetadata().getFinalizers()).hasSize(1);
  }

  @Test
  void aDeletedObjectStaysUntilItsFinalizersAreGone() {
    ResourceClaim claim = claim("finalized");
    claim.getMetadata().getFinalizers().add("example.com/finalizer");
    client.resource(claim).update();

    named("finalized").delete();
    assertThat(named("finalized").require().isMarkedForDeletion()).isTrue();

    named("finalized")
        .edit(
            current -> {
              current.getMetadata().getFinalizers().clear();
              return current;
            });
    assertThat(named("finalized").get()).isNull();
  }

  @Test
  void anInformerSeesWhatHappens() throws Exception {
    try (var informer = client.pods().inNamespace("default").inform()) {
      Pod pod = new PodBuilder().withNewMetadata().withNamespace("default").withName("watched").endMetadata()
          .withNewSpec().endSpec().build();
      client.resource(pod).create();

      assertThat(Waiting.until(Duration.ofSeconds(10), () -> informer.getStore().getByKey("default/watched") != null))
          .isTrue();

      client.pods().inNamespace("default").withName("watched").delete();
      assertThat(Waiting.until(Duration.ofSeconds(10), () -> informer.getStore().getByKey("default/watched") == null))
          .isTrue();
    }
  }

  @Test
  void watchesThatAreClosedWhileThereIsNewsHoldUpNobody() {
    for (int round = 0; round < 10; round++) {
      try (KubernetesClient watching = api.client();
          var _ = watching.pods().inNamespace("default").inform()) {
        for (int i = 0; i < 20; i++) {
          String name = "news-" + round + "-" + i;
          client.resource(new PodBuilder().withNewMetadata().withNamespace("default").withName(name).endMetadata()
              .withNewSpec().endSpec().build()).create();
        }
      }
      assertTimeout(Duration.ofSeconds(20), () -> client.pods().inNamespace("default").list());
    }
  }

  @Test
  void eventsAndLeasesAreKept() {
    client
        .resource(
            new EventBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName("something.1")
                .endMetadata()
                .withReason("Something")
                .withNote("happened")
                .build())
        .create();
    client
        .resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName("leader")
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity("me")
                .endSpec()
                .build())
        .create();

    assertThat(client.events().v1().events().inNamespace("default").withName("something.1").require().getNote())
        .isEqualTo("happened");
    assertThat(client.leases().inNamespace("default").withName("leader").require().getSpec().getHolderIdentity())
        .isEqualTo("me");
  }
}
