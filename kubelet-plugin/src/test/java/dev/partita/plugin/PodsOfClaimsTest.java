package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.Driver;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.podresources.PodsOfClaims;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import k8s.io.kubelet.pkg.apis.podresources.v1.CDIDevice;
import k8s.io.kubelet.pkg.apis.podresources.v1.ClaimResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ContainerResources;
import k8s.io.kubelet.pkg.apis.podresources.v1.DynamicResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResources;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MockApiServer(crud = true)
class PodsOfClaimsTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final ClaimRef OURS = new ClaimRef("default", "ours", "0b7a4c1e-0000-4000-8000-000000000001");
  private static final String OTHER_UID = "0b7a4c1e-0000-4000-8000-000000000002";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  private PodsOfClaims pods;

  @BeforeEach
  void make() {
    pods = new PodsOfClaims(root.resolve("kubelet.sock"), new ClaimReader(client, ApiCalls.standard()));
  }

  @Test
  void podsThatHaveTheClaimsDevicesByKubeletAreFoundByTheirUid() throws IOException {
    String first = pod("first", "ours");
    String second = pod("second", "ours");
    pod("other", "others");
    try (PodResourcesOfTest kubelet = new PodResourcesOfTest(root.resolve("kubelet.sock"))) {
      kubelet.answer(ListPodResourcesResponse.newBuilder()
          .addPodResources(has("default", "first", OURS.uid()))
          .addPodResources(has("default", "second", OURS.uid()))
          .addPodResources(has("default", "other", OTHER_UID))
          .build());
      // a first call may take longer than kubelet is waited for
      await().atMost(SOON).untilAsserted(() -> assertThat(pods.of(OURS)).contains(Set.of(first, second)));
    }
  }

  @Test
  void aPodThatHasGotTheNameSinceAndDoesNotNameTheClaimIsNone() throws IOException {
    pod("first", "others");
    try (PodResourcesOfTest kubelet = new PodResourcesOfTest(root.resolve("kubelet.sock"))) {
      kubelet.answer(ListPodResourcesResponse.newBuilder()
          .addPodResources(has("default", "first", OURS.uid()))
          .addPodResources(has("default", "gone", OURS.uid()))
          .addPodResources(has("elsewhere", "first", OURS.uid()))
          .build());
      // a first call may take longer than kubelet is waited for
      await().atMost(SOON).untilAsserted(() -> assertThat(pods.of(OURS)).contains(Set.of()));
    }
  }

  @Test
  void whereKubeletDoesNotTellThatIsNotTakenForNone() {
    pod("first", "ours");
    assertThat(pods.of(OURS)).isEmpty();
  }

  /** Gives its UID. */
  private String pod(String name, String claim) {
    Pod pod = new PodBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().withNewSpec()
        .addNewResourceClaim().withName("gpu").withResourceClaimName(claim).endResourceClaim().endSpec().build();
    return client.resource(pod).create().getMetadata().getUid();
  }

  private static PodResources has(String namespace, String pod, String claimUid) {
    return PodResources.newBuilder().setNamespace(namespace).setName(pod)
        .addContainers(ContainerResources.newBuilder().setName("main")
            .addDynamicResources(DynamicResource.newBuilder()
                .addClaimResources(ClaimResource.newBuilder().setDriverName(Driver.NAME)
                    .addCdiDevices(CDIDevice.newBuilder().setName("gpu.partita.dev/claim=" + claimUid + "-share")))))
        .build();
  }
}
