package dev.partita.plugin.claimread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeReason;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.opaque.OpaqueCards;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimReaderTest {
  private static final Inventory.Cards NO_CARDS =
      new Inventory.Cards(new Inventory.NoCards(NodeReason.NoDriver, "there is none"), List.of(), OpaqueCards.NONE);

  private final AtomicInteger underWay = new AtomicInteger();
  private final CountDownLatch answered = new CountDownLatch(1);

  @Test
  void ofManyClaimsThatAreAskedForAtOnceAFewAreReadAtATime() throws InterruptedException {
    KubernetesClient client =
        (KubernetesClient) Proxy.newProxyInstance(KubernetesClient.class.getClassLoader(),
            new Class<?>[]{KubernetesClient.class}, (_, _, _) -> answer());
    ClaimReader reader = new ClaimReader(client, ApiCalls.standard());
    AtomicInteger refused = new AtomicInteger();
    List<Thread> threads = IntStream.range(0, 20).mapToObj(i -> Thread.ofPlatform().start(() -> {
      try {
        reader.claim("lab", "gpu-" + i);
      } catch (KubernetesClientException e) {
        refused.incrementAndGet();
      }
    })).toList();
    await().until(() -> threads.stream().allMatch(
        thread -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING));
    assertThat(underWay).hasValue(ClaimReader.AT_ONCE);
    answered.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(refused).as("each has its answer").hasValue(20);
  }

  /** Else four reads that fail again and again, such as of claims that cannot be decoded, held up all others. */
  @Test
  void aReadThatWaitsForItsNextTryKeepsNobodyElseWaiting() {
    KubernetesClient client =
        (KubernetesClient) Proxy.newProxyInstance(KubernetesClient.class.getClassLoader(),
            new Class<?>[]{KubernetesClient.class}, (_, _, _) -> {
              throw new KubernetesClientException("no", Thread.currentThread().getName().equals("bad") ? 500 : 403,
                  null);
            });
    ClaimReader reader = new ClaimReader(client, new ApiCalls(Retry.of("rare", RetryConfig.custom().maxAttempts(2)
        .waitDuration(Duration.ofHours(1)).retryOnException(ApiCalls::mayPass).build())));
    List<Thread> bad = IntStream.range(0, ClaimReader.AT_ONCE)
        .mapToObj(i -> Thread.ofPlatform().daemon().name("bad").start(() -> reader.claim("lab", "gpu-" + i))).toList();
    await().until(() -> bad.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
    assertThatThrownBy(() -> reader.claim("lab", "gpu")).isInstanceOfSatisfying(KubernetesClientException.class,
        e -> assertThat(e.getCode()).isEqualTo(403));
    bad.forEach(Thread::interrupt);
  }

  /** One after another they took longer than kubelet waits for an answer, where the API server is slow. */
  @Test
  void theClaimsOfAPodAreReadSeveralAtATime() throws InterruptedException {
    KubernetesClient client =
        (KubernetesClient) Proxy.newProxyInstance(KubernetesClient.class.getClassLoader(),
            new Class<?>[]{KubernetesClient.class}, (_, _, _) -> answer());
    CallReads reads = new CallReads(new ClaimReader(client, ApiCalls.standard()), "a/gpu");
    PodBuilder pod = new PodBuilder().withNewMetadata().withName("p").withNamespace("lab").endMetadata().withNewSpec()
        .endSpec();
    IntStream.range(0, 100).forEach(i -> pod.editSpec().addNewResourceClaim().withName("c" + i)
        .withResourceClaimName("c" + i).endResourceClaim().endSpec());
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread = Thread.ofPlatform().start(() -> {
      try {
        reads.containers(pod.build(), NO_CARDS, GpuNodeSpec.DEFAULT);
      } catch (KubernetesClientException e) {
        failure.set(e);
      }
    });
    await().untilAsserted(() -> assertThat(underWay).hasValue(ClaimReader.AT_ONCE));
    answered.countDown();
    thread.join();
    assertThat(failure.get()).hasMessageContaining("no");
  }

  /** Beside a share of another claim whole cards come with other libraries. */
  @Test
  void aWholeCardIsNotPreparedWhileItIsNotKnownWhatItStandsBeside() {
    answered.countDown();
    KubernetesClient client =
        (KubernetesClient) Proxy.newProxyInstance(KubernetesClient.class.getClassLoader(),
            new Class<?>[]{KubernetesClient.class}, (_, _, _) -> answer());
    CallReads reads = new CallReads(new ClaimReader(client, ApiCalls.standard()), "a/gpu");
    Containers containers = new Containers(reads, NO_CARDS, GpuNodeSpec.DEFAULT);
    ClaimRef ref = new ClaimRef("lab", "c", "uid");
    ResourceClaim claim = new ResourceClaimBuilder().withNewStatus().addNewReservedFor("", "p", "pods", "pod-uid")
        .endStatus().build();
    assertThatThrownBy(() -> containers.view(ref, claim, List.of(Grants.whole("a", 0))))
        .isInstanceOf(KubernetesClientException.class);
    List<Grant> share = List.of(Grants.share("a", 0, "k", 8, 0));
    assertThat(containers.view(ref, claim, share)).isEqualTo(ContainerView.ofUnknown(share));
  }

  private Object answer() throws InterruptedException {
    underWay.incrementAndGet();
    answered.await();
    throw new KubernetesClientException("no", 403, null);
  }
}
