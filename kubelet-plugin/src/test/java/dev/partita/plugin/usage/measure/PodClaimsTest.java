package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.prepare.ClaimReader;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

@MockApiServer(crud = true)
class PodClaimsTest {
  private static final String OF_CLAIM = "a-pod-of-the-claim";
  private static final String OF_GROUP = "a-pod-of-the-group";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private final List<ClaimRef> askedOfKubelet = new ArrayList<>();

  @Test
  void aClaimIsThatOfThePodsThatItIsReservedFor() {
    ClaimRef claim = reserved("", "pods", "p", OF_CLAIM);
    PodClaims pods = pods();
    awaitClaims(pods, OF_CLAIM, claim);
    assertThat(askedOfKubelet).isEmpty();
  }

  @Test
  void aClaimThatIsReservedForAPodGroupIsThatOfThePodsThatHaveItsDevices() {
    ClaimRef claim = reserved("scheduling.k8s.io", "podgroups", "train", "a-group");
    PodClaims pods = pods();
    awaitClaims(pods, OF_GROUP, claim);
    assertThat(pods.of(OF_CLAIM, List.of(claim))).isEmpty();
    await().until(() -> askedOfKubelet.size() == 2);
    assertThat(pods.of(OF_CLAIM, List.of(claim))).isEmpty();
  }

  private PodClaims pods() {
    DevicePods kubelet = claim -> {
      synchronized (askedOfKubelet) {
        askedOfKubelet.add(claim);
      }
      return Set.of(OF_GROUP);
    };
    return new PodClaims(new ClaimReader(client, ApiCalls.standard()), kubelet, Clock.systemUTC());
  }

  private static void awaitClaims(PodClaims pods, String pod, ClaimRef claim) {
    await().atMost(Duration.ofSeconds(20)).until(() -> pods.of(pod, List.of(claim)), Set.of(claim.uid())::equals);
  }

  private ClaimRef reserved(String group, String resource, String name, String uid) {
    ResourceClaim claim = client.resource(new ResourceClaimBuilder().withNewMetadata().withName("c")
        .withNamespace("default").endMetadata().build()).create();
    claim = client.resource(new ResourceClaimBuilder(claim).withNewStatus()
        .addNewReservedFor(group, name, resource, uid).endStatus().build()).updateStatus();
    return new ClaimRef("default", "c", claim.getMetadata().getUid());
  }
}
