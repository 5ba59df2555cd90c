package dev.partita.plugin.claimread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimReaderTest {
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

  private Object answer() throws InterruptedException {
    underWay.incrementAndGet();
    answered.await();
    throw new KubernetesClientException("no", 403, null);
  }
}
