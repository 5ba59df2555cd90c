package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.ApiServerPace;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.Parallel;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/**
 * From the event that lets waiting pods go on to their written allocations. By default a few pods, to see that it
 * works; {@code
 * -Dpartita.rate.pods=500 -Dpartita.rate.nodes=200} is the size for figures, which are printed.
 */
@OnRealCluster
class AllocationRateIT {
  private static final int PODS = Integer.getInteger("partita.rate.pods", 40);
  private static final int NODES = Integer.getInteger("partita.rate.nodes", 8);
  private static final int CARDS = 8;
  private static final Duration LONG = Workspace.PATIENCE.plusMillis(300L * PODS);

  @Test
  void podsThatWaitedForTheSameThingAreAllAllocatedOnceItComes(RealCluster cluster, Workspace workspace)
      throws Exception {
    KubernetesClient client = cluster.client();
    String name = workspace.namespace();
    List<PaperNode> nodes = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      // before the quota: while kube-scheduler allocates on some node, admission refuses what is beyond one
      Parallel.run(threads, PODS, i -> workspace.claimOfSpec("c" + i,
          "{devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 16Gi, cores: '25'}}}}]}}"));
      GenericKubernetesResource quota = quota(client, name);
      try {
        Parallel.run(threads, NODES, i -> {
          PaperNode node = PaperNode.create(client, name + "-" + i, name, CARDS);
          synchronized (nodes) {
            nodes.add(node);
          }
        });
        Daemons daemons = new Daemons(client);
        nodes.forEach(node -> daemons.awaitSlices(node.name()));
        Parallel.run(threads, PODS, i -> workspace.create(pod(i, name)));
        await("every pod to say that it waits").atMost(LONG).pollInterval(Duration.ofSeconds(1))
            .until(() -> pods(client, name).stream().allMatch(AllocationRateIT::waits));
        await("every claim to say why").atMost(LONG).pollInterval(Duration.ofSeconds(1))
            .until(() -> refusals(client, name) >= PODS);

        Map<String, Long> allocated = new ConcurrentHashMap<>();
        long start;
        try (Watch _ = client.resources(ResourceClaim.class).inNamespace(name).watch(new Arrivals(allocated))) {
          start = System.nanoTime();
          client.resource(quota).delete();
          await("every claim to be allocated").atMost(LONG).pollInterval(Duration.ofMillis(100))
              .until(() -> allocated.size() == PODS);
        }
        await("every pod to be bound").atMost(LONG).pollInterval(Duration.ofSeconds(1)).until(() -> pods(client, name)
            .stream().allMatch(pod -> String.valueOf(pod.getSpec().getNodeName()).startsWith(name)));
        long bound = System.nanoTime() - start;
        List<ResourceClaim> claims = client.resources(ResourceClaim.class).inNamespace(name).list().getItems();
        nothingIsAllocatedTwice(claims);
        double alone = ApiServerPace.seconds(workspace, PODS, claims.getFirst().getStatus().getAllocation(), threads);
        report(allocated.values().stream().map(at -> at - start).sorted().toList(), bound, alone);
      } finally {
        client.resource(quota).delete();
        client.pods().inNamespace(name).withGracePeriod(0).delete();
        Parallel.run(threads, nodes.size(), i -> nodes.get(i).close());
      }
    }
  }

  /** @param alone seconds that the API server takes for the same writes when it has nothing else to do */
  private static void report(List<Long> took, long bound, double alone) throws IOException {
    double seconds = took.getLast() / 1e9;
    String line =
        String.format(
            Locale.ROOT,
            "%d pods on %d nodes x %d: the first allocation after %.0f ms, half after %.0f ms, all after %.2f s: %.0f a second, %.0f %% of the %.0f that the API server takes by itself; all bound after %.0f s",
            took.size(), NODES, CARDS, took.getFirst() / 1e6, took.get(took.size() / 2) / 1e6, seconds,
            took.size() / seconds,
            100 * alone / seconds, took.size() / alone, bound / 1e9);
    System.out.println(line);
    Files.writeString(Path.of(System.getProperty("partita.target"), "allocation-rate.txt"), line + "\n");
  }

  private static void nothingIsAllocatedTwice(List<ResourceClaim> claims) {
    Map<String, Long> allocated = new HashMap<>();
    for (ResourceClaim claim : claims) {
      DeviceRequestAllocationResult result = claim.getStatus().getAllocation().getDevices().getResults().getFirst();
      allocated.merge(result.getPool() + " " + result.getDevice(), 1L, Long::sum);
    }
    assertThat(allocated).allSatisfy((card, shares) -> assertThat(shares).as(card).isLessThanOrEqualTo(4));
  }

  private static boolean waits(Pod pod) {
    return pod.getStatus().getConditions().stream()
        .anyMatch(c -> "gpu.partita.dev/Allocated".equals(c.getType()) && "False".equals(c.getStatus()));
  }

  private static long refusals(KubernetesClient client, String namespace) {
    return client.events().v1().events().inNamespace(namespace).list().getItems().stream()
        .filter(event -> "Unallocatable".equals(event.getReason())).count();
  }

  private static List<Pod> pods(KubernetesClient client, String namespace) {
    return client.pods().inNamespace(namespace).list().getItems();
  }

  /** The door that the pods wait at: nobody in the namespace may have a claim. */
  private static GenericKubernetesResource quota(KubernetesClient client, String namespace) {
    GenericKubernetesResource quota = new GenericKubernetesResource();
    quota.setApiVersion("gpu.partita.dev/v1alpha1");
    quota.setKind("GpuQuota");
    quota.setMetadata(new ObjectMetaBuilder().withName(namespace).build());
    quota.setAdditionalProperties(
        Map.of(
            "spec",
            Map.of(
                "namespaceSelector", Map.of("matchLabels", Map.of("kubernetes.io/metadata.name", namespace)),
                "limits", List.of(Map.of("name", "none", "guaranteed", Map.of("claims", 0))))));
    return client.resource(quota).create();
  }

  /** Gated, as the webhook makes pods: kube-scheduler sees each once. */
  private static String pod(int number, String group) {
    return """
        apiVersion: v1
        kind: Pod
        metadata: {name: p%d}
        spec:
          terminationGracePeriodSeconds: 0
          schedulingGates: [{name: gpu.partita.dev/allocation}]
          nodeSelector: {%s: %s}
          tolerations: [{operator: Exists}]
          resourceClaims: [{name: gpu, resourceClaimName: c%d}]
          containers:
          - {name: main, image: %s, imagePullPolicy: Never, resources: {claims: [{name: gpu}]}}
        """
        .formatted(number, PaperNode.POOL, group, number, RealCluster.PROBE_IMAGE);
  }

  /** Notes when each claim was seen with its allocation first. */
  private record Arrivals(Map<String, Long> allocated) implements Watcher<ResourceClaim> {
    @Override
    public void eventReceived(Action action, ResourceClaim claim) {
      if (claim.getStatus() != null && claim.getStatus().getAllocation() != null) {
        allocated.putIfAbsent(claim.getMetadata().getName(), System.nanoTime());
      }
    }

    @Override
    public void onClose(WatcherException cause) {
      throw new IllegalStateException("the watch on claims ended", cause);
    }
  }
}
