package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * How long a claim that fits waits for its allocation while another namespace does what it can to keep the controller
 * busy: pods that fit nowhere, a gang that never is complete and whose pods come and go, selectors that cost as much as
 * one may, evaluated on every card, and claims that are given back all the time, so that everybody who waits is decided
 * anew. By default a small load;
 * {@code -Dpartita.neighbour.pods=10000 -Dpartita.neighbour.gang=1000 -Dpartita.neighbour.selectors=100
 * -Dpartita.neighbour.nodes=200 -Dpartita.neighbour.claims=200} is the size for figures. Prints a table.
 */
@Isolated("it measures how long a pod waits")
class NeighbourWaitTest {
  private static final int PODS = Integer.getInteger("partita.neighbour.pods", 300);
  private static final int SHAPES = Integer.getInteger("partita.neighbour.shapes", 100);
  private static final int GANG = Integer.getInteger("partita.neighbour.gang", 60);
  private static final int SELECTORS = Integer.getInteger("partita.neighbour.selectors", 6);
  private static final int NODES = Integer.getInteger("partita.neighbour.nodes", 10);
  private static final int CLAIMS = Integer.getInteger("partita.neighbour.claims", 5);
  private static final int CARDS = 8;

  /** The goal is 2 s at the 99th percentile; the machine of a test has others at work, too. */
  private static final Duration BOUND = Duration.ofSeconds(Integer.getInteger("partita.neighbour.bound", 8));

  private static final String CHURN = "churn";
  private static final String BUSY = "busy";
  private static final String NEIGHBOUR = "neighbour";

  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void aClaimThatFitsIsAllocatedSoonWhateverAnotherNamespaceKeepsTheControllerBusyWith() throws InterruptedException {
    List<Duration> quiet = waits(false);
    List<Duration> busy = waits(true);
    System.out.printf(
        "neighbour's wait, %d nodes x %d cards, %d claims%n| other namespace | p50 | p99 | longest |%n| --- | ---: | ---: | ---: |%n%s%n%s%n",
        NODES,
        CARDS,
        CLAIMS,
        row("nothing", quiet),
        row("%d hopeless pods of %d shapes, a gang with %d of %d pods, %d costly selectors".formatted(PODS, SHAPES,
            GANG, GANG + 1, SELECTORS), busy));
    assertThat(percentile(busy, 99)).isLessThan(BOUND);
  }

  private static String row(String load, List<Duration> waits) {
    return "| %s | %d ms | %d ms | %d ms |"
        .formatted(load, percentile(waits, 50).toMillis(), percentile(waits, 99).toMillis(),
            percentile(waits, 100).toMillis());
  }

  private static Duration percentile(List<Duration> waits, int percent) {
    return waits.stream().sorted().toList().get(Math.max(0, (int) Math.ceil(waits.size() * percent / 100.0) - 1));
  }

  private static List<Duration> waits(boolean busy) throws InterruptedException {
    try (Cluster cluster = Cluster.empty()) {
      for (int i = 0; i < NODES; i++) {
        String name = "node-" + i;
        cluster.rules.put("/api/v1/nodes",
            List.of(new NodeBuilder().withNewMetadata().withName(name).endMetadata().withNewSpec().endSpec().build()));
        cluster.rules.put("/apis/gpu.partita.dev/v1alpha1/gpunodes",
            List.of(GpuNodes.ready(name, CARDS, "NVIDIA H200", 140 * GpuNodes.GIB)));
      }
      if (busy) {
        load(cluster);
      }
      cluster.start();
      Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> cluster.slices().size() >= NODES);
      CountDownLatch over = new CountDownLatch(1);
      Thread churn = Thread.ofPlatform().unstarted(() -> churn(cluster, over));
      if (busy) {
        churn.start();
      }
      List<Duration> waits = new ArrayList<>();
      Map<String, Long> allocated = new ConcurrentHashMap<>();
      try (Watch _ =
          cluster.client.resources(ResourceClaim.class).inNamespace(NEIGHBOUR).watch(new Arrivals(allocated))) {
        for (int i = 0; i <= CLAIMS; i++) {
          String name = "n" + i;
          cluster.client.resource(share(NEIGHBOUR, name, "1Gi", "")).create();
          Pod pod = pod(NEIGHBOUR, name);
          long start = System.nanoTime();
          cluster.client.resource(pod).create();
          Awaitility.await().atMost(Duration.ofMinutes(2)).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5))
              .until(() -> allocated.containsKey(name));
          waits.add(Duration.ofNanos(Objects.requireNonNull(allocated.get(name)) - start));
        }
      } finally {
        over.countDown();
        churn.join();
      }
      return waits.subList(1, waits.size()); // with the first, code is loaded
    }
  }

  private static void load(Cluster cluster) {
    List<ResourceClaim> claims = new ArrayList<>();
    List<Pod> pods = new ArrayList<>();
    for (int i = 0; i < PODS; i++) {
      claims.add(share(BUSY, "hopeless-" + i, (200 + i % SHAPES) + "Gi", ""));
      pods.add(pod(BUSY, "hopeless-" + i));
    }
    for (int i = 0; i < GANG; i++) {
      claims.add(share(BUSY, "gang-" + i, "1Gi", ""));
      pods.add(member("gang-" + i));
    }
    for (int i = 0; i < SELECTORS; i++) {
      claims.add(costly("costly-" + i, i));
      pods.add(pod(BUSY, "costly-" + i));
    }
    cluster.rules.put("/apis/resource.k8s.io/v1/namespaces/" + BUSY + "/resourceclaims", claims);
    cluster.rules.put("/api/v1/namespaces/" + BUSY + "/pods", pods);
  }

  /** A claim whose selector costs nearly a million units on each card, and is like no other. */
  private static ResourceClaim costly(String name, int number) {
    String numbers = IntStream.range(0, 100).mapToObj(Integer::toString).collect(Collectors.joining(",", "[", "]"));
    String costly =
        "%s.all(a, %s.all(b, [1,2,3,4,5,6].all(c, a + b + c > -%d)))".formatted(numbers, numbers, number + 1);
    return share(BUSY, name, "1Gi", costly + " && device.attributes['gpu.partita.dev'].uuid.startsWith('none')");
  }

  /**
   * Again and again a claim is given back, a pod of the gang comes and goes, and one with another costly selector
   * comes.
   */
  private static void churn(Cluster cluster, CountDownLatch over) {
    for (int i = 0; over.getCount() > 0; i++) {
      String name = CHURN + i;
      try {
        cluster.client.resource(share(BUSY, name, "1Gi", "")).create();
        cluster.client.resource(pod(BUSY, name)).create();
        cluster.client.resource(member("odd-" + i)).create();
        cluster.client.resource(costly("more-" + i, SELECTORS + i)).create();
        cluster.client.resource(pod(BUSY, "more-" + i)).create();
        boolean _ = over.await(300, TimeUnit.MILLISECONDS);
        for (HasMetadata gone : List.of(pod(BUSY, name), pod(BUSY, "odd-" + i), share(BUSY, name, "1Gi", ""))) {
          cluster.client.resource(gone).delete();
        }
      } catch (InterruptedException | KubernetesClientException e) {
        // the next round
      }
    }
  }

  private static ResourceClaim share(String namespace, String name, String memory, String selector) {
    return new ResourceClaimBuilder(
        new ClaimForm(name, "gpu.partita.dev").capacity(Map.of("memory", memory)).selector(selector).claim())
        .editMetadata()
        .withNamespace(namespace)
        .endMetadata()
        .build();
  }

  private static Pod pod(String namespace, String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withNewSpec()
        .addNewResourceClaim()
        .withName("gpu")
        .withResourceClaimName(name)
        .endResourceClaim()
        .endSpec()
        .withNewStatus()
        .withPhase("Pending")
        .endStatus()
        .build();
  }

  private static Pod member(String name) {
    return new PodBuilder(pod(BUSY, name))
        .editMetadata()
        .addToAnnotations(Driver.GANG_ANNOTATION, "never")
        .addToAnnotations(Driver.GANG_SIZE_ANNOTATION, Integer.toString(GANG + 2))
        .endMetadata()
        .build();
  }

  /** When claims were seen to be allocated. */
  private record Arrivals(Map<String, Long> allocated) implements Watcher<ResourceClaim> {
    @Override
    public void eventReceived(Action action, ResourceClaim claim) {
      if (claim.getStatus() != null && claim.getStatus().getAllocation() != null) {
        allocated.putIfAbsent(claim.getMetadata().getName(), System.nanoTime());
      }
    }

    @Override
    public void onClose(WatcherException cause) {}
  }
}
