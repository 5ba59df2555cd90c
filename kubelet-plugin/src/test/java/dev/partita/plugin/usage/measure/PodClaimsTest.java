package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@MockApiServer(crud = true)
class PodClaimsTest {
  private static final String OF_CLAIM = "a-pod-of-the-claim";
  private static final String OF_GROUP = "a-pod-of-the-group";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private final List<ClaimRef> askedOfKubelet = Collections.synchronizedList(new ArrayList<>());
  private final Set<String> ofGroup = ConcurrentHashMap.newKeySet();
  private final AtomicLong seconds = new AtomicLong();
  private volatile boolean fails;
  private volatile boolean silent;

  @BeforeEach
  void begin() {
    ofGroup.add(OF_GROUP);
  }

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
    seconds.addAndGet(10);
    assertThat(pods.of(OF_CLAIM, List.of(claim))).isEmpty();
    await().until(() -> askedOfKubelet.size() == 2);
    assertThat(pods.of(OF_CLAIM, List.of(claim))).isEmpty();
  }

  @Test
  void manyPodsHaveAClaimReadOnceInSomeSeconds() {
    ClaimRef claim = reserved("scheduling.k8s.io", "podgroups", "train", "a-group");
    List<String> many = IntStream.range(0, 100).mapToObj(i -> "pod-" + i).toList();
    ofGroup.addAll(many);
    PodClaims pods = pods();
    many.forEach(pod -> pods.of(pod, List.of(claim)));
    await().atMost(Duration.ofSeconds(20)).until(
        () -> many.stream().allMatch(pod -> pods.of(pod, List.of(claim)).contains(claim.uid())));
    assertThat(askedOfKubelet).hasSize(1);
  }

  @Test
  void manyPodsDoNotHaveAnApiServerAskedThatDoesNotAnswer() {
    ClaimRef claim = reserved("scheduling.k8s.io", "podgroups", "train", "a-group");
    fails = true;
    PodClaims pods = pods();
    List<String> many = IntStream.range(0, 100).mapToObj(i -> "pod-" + i).toList();
    many.forEach(pod -> pods.of(pod, List.of(claim)));
    await().until(() -> askedOfKubelet.size() == 1);
    fails = false;
    seconds.addAndGet(40); // each asks anew
    ofGroup.addAll(many);
    await().atMost(Duration.ofSeconds(20)).until(
        () -> many.stream().allMatch(pod -> pods.of(pod, List.of(claim)).contains(claim.uid())));
    assertThat(askedOfKubelet).as("once while that failed, once since").hasSize(2);
  }

  @Test
  void aPodThatGetsTheClaimAfterItWasReadIsFoundSecondsLater() {
    ClaimRef claim = reserved("scheduling.k8s.io", "podgroups", "train", "a-group");
    PodClaims pods = pods();
    awaitClaims(pods, OF_GROUP, claim);
    seconds.addAndGet(3);
    ofGroup.add("later");
    assertThat(pods.of("later", List.of(claim))).isEmpty();
    await().pollInSameThread().until(() -> {
      seconds.addAndGet(1);
      return !pods.of("later", List.of(claim)).isEmpty();
    });
    assertThat(askedOfKubelet).hasSize(2);
  }

  @Test
  void whatKubeletDoesNotTellIsAskedAgainSecondsLater() {
    ClaimRef claim = reserved("scheduling.k8s.io", "podgroups", "train", "a-group");
    silent = true;
    PodClaims pods = pods();
    assertThat(pods.of(OF_GROUP, List.of(claim))).isEmpty();
    await().until(() -> askedOfKubelet.size() == 1);
    silent = false;
    seconds.addAndGet(6);
    awaitClaims(pods, OF_GROUP, claim);
  }

  @Test
  void aPodKeepsItsClaimWhileKubeletDoesNotTell() {
    ClaimRef claim = reserved("scheduling.k8s.io", "podgroups", "train", "a-group");
    PodClaims pods = pods();
    awaitClaims(pods, OF_GROUP, claim);
    silent = true;
    for (int asked = 2; asked < 5; asked++) { // a look that has ended lets the next one be asked for
      seconds.addAndGet(40);
      int times = asked;
      await().until(() -> {
        assertThat(pods.of(OF_GROUP, List.of(claim))).containsExactly(claim.uid());
        return askedOfKubelet.size() == times;
      });
    }
  }

  private PodClaims pods() {
    DevicePods kubelet = claim -> {
      askedOfKubelet.add(claim);
      if (fails) {
        throw new KubernetesClientException("it does not answer");
      }
      return silent ? Optional.empty() : Optional.of(Set.copyOf(ofGroup));
    };
    return new PodClaims(new ClaimReader(client, ApiCalls.standard()), kubelet,
        ((InstantSource) () -> Instant.ofEpochSecond(1_700_000_000 + seconds.get())).withZone(ZoneOffset.UTC));
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
