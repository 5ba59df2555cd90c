package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OurContainers;
import dev.partita.e2e.cluster.Parallel;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What a tenant with the role {@code edit} can send at once: connections that say nothing, pods with as much metadata
 * as the API takes, and pods that no node can hold. Runs alone, for all of that is a load on the API server as well.
 */
@OnRealCluster
@Isolated("its load would slow down every other test")
@Order(Integer.MAX_VALUE) // its pods go with the cluster, which takes less time than to delete them
class HostileLoadIT {
  /** In which kubelet has asked each of our containers for its health at least once, 20 s apart. */
  private static final Duration PROBED = Duration.ofSeconds(30);

  /** kubelet ends a container that has not answered so often in a row. */
  private static final int KILLED_AFTER = 3;

  private static final int CONNECTIONS = 300; // of each port; a container may have 1,024 files open
  private static final int LARGE_PODS = 1_200;
  private static final int HOPELESS_PODS = 400;

  /** How many calls the tenant has under way at once. */
  private static final int CALLS = 6;

  @Test
  void noConnectionNoLargePodAndNoHopelessPodKeepsANeighbourWaiting(RealCluster cluster, Workspace workspace)
      throws Exception {
    String node = cluster.quietNodes().getFirst();
    OurContainers before = OurContainers.of(cluster, node);
    try (Tenant tenant = Tenant.in(workspace);
        Workspace neighbour = workspace.another();
        ExecutorService calls = Executors.newFixedThreadPool(CALLS + 1)) {
      List<Pod> ours = new ArrayList<>(new Controllers(cluster).ready());
      ours.add(new Daemons(cluster.client()).awaitPlugin(node));
      PodUnderTest asks = neighbour.podWithoutClaim("asks", PodTraits.on(node), asking(ours)).awaitLine(" 200");
      Instant start = Instant.now();
      tenant.create(connecting(ours));
      tenant.create(template());
      Future<?> making = calls.submit(() -> makePods(tenant, calls));
      List<Duration> waits = new ArrayList<>();
      boolean over;
      do {
        over = making.isDone() && Duration.between(start, Instant.now()).compareTo(PROBED) > 0;
        waits.add(servedWithin(neighbour, node, waits.size()));
      } while (!over);
      making.get();
      System.out.println("hostile load: lasted " + Duration.between(start, Instant.now()));
      System.out.println("hostile load: a neighbour's pods had ended after " + waits);
      assertThat(waits).allMatch(wait -> wait.compareTo(Duration.ofSeconds(30)) < 0);
      assertThat(OurContainers.of(cluster, node)).as("containers of ours that were started again").isEqualTo(before);
      assertThat(unansweredInARow(asks.log()).values()).hasSize(ours.size())
          .allSatisfy(inARow -> assertThat(inARow).isLessThan(KILLED_AFTER));
    }
  }

  /** Makes all large and all hopeless pods; null for a task's result. */
  private static @Nullable Object makePods(Tenant tenant, ExecutorService calls) throws Exception {
    String filler = "x".repeat((256 << 10) - 100);
    Pod hopeless = (Pod) tenant.parsed(hopeless());
    Parallel.run(
        calls,
        LARGE_PODS,
        i -> {
          tenant.create(large(i, filler));
          if (i < HOPELESS_PODS) {
            tenant.create(
                new PodBuilder(hopeless)
                    .editMetadata()
                    .withName("hopeless-" + i)
                    .endMetadata()
                    .build());
          }
        });
    return null;
  }

  /** From the pod's creation to its end. */
  private static Duration servedWithin(Workspace neighbour, String node, int number) {
    Instant asked = Instant.now();
    String log = neighbour.pod("served-" + number, node, Ask.share("1Gi"), "partita-probe alloc 256Mi").awaitLog();
    assertThat(log).contains("CUDA_SUCCESS");
    return Duration.between(asked, Instant.now());
  }

  /**
   * Asks for the health of each of these pods as kubelet does, but once a second, and writes which address answered
   * with which status.
   */
  private static String asking(List<Pod> ours) {
    String asks = ours.stream()
        .map(pod -> "ask %s %d; ".formatted(pod.getStatus().getPodIP(), pod.getSpec().getContainers().stream()
            .flatMap(container -> container.getPorts().stream()).filter(port -> "health".equals(port.getName()))
            .findFirst().orElseThrow().getContainerPort()))
        .collect(Collectors.joining());
    return """
        cat > /tmp/ask <<'ASK'
        exec 3<>/dev/tcp/$1/$2 && printf 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3 &&
          read -r _ status _ <&3 && echo "$1 $status"
        ASK
        ask() { timeout 5 bash /tmp/ask $1 $2 2>/dev/null || echo "$1 none"; }
        while true; do %s sleep 1; done
        """
        .formatted(asks);
  }

  /** By address, how often it did not answer well in a row, at most. */
  private static Map<String, Integer> unansweredInARow(String log) {
    Map<String, Integer> now = new HashMap<>();
    Map<String, Integer> most = new HashMap<>();
    log.lines().map(line -> line.split(" ", 2)).forEach(line -> {
      int inARow = "200".equals(line[1]) ? 0 : now.getOrDefault(line[0], 0) + 1;
      now.put(line[0], inARow);
      most.merge(line[0], inARow, Math::max);
    });
    System.out.println("hostile load: our containers did not answer so often in a row: " + most);
    return most;
  }

  /** A pod that leaves half a request on every port of these pods that it reaches, and keeps the connections. */
  private static String connecting(List<Pod> ours) {
    StringBuilder script = new StringBuilder();
    for (Pod pod : ours) {
      pod.getSpec().getContainers().stream()
          .flatMap(container -> container.getPorts().stream())
          .forEach(port -> script.append("half ").append(pod.getStatus().getPodIP()).append(' ')
              .append(port.getContainerPort()).append("; "));
    }
    return """
        apiVersion: v1
        kind: Pod
        metadata: {name: connecting}
        spec:
          terminationGracePeriodSeconds: 0
          containers:
          - name: main
            image: %s
            imagePullPolicy: IfNotPresent
            command: [bash, -c]
            args:
            - |
              half() {
                for i in $(seq %d); do exec {c}<>/dev/tcp/$1/$2 && printf 'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n' >&$c; done 2>/dev/null
              }
              while true; do %s sleep 1; done
        """
        .formatted(RealCluster.PROBE_IMAGE, CONNECTIONS, script);
  }

  private static Pod large(int number, String filler) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("large-" + number)
        .addToAnnotations("filler", filler)
        .endMetadata()
        .withNewSpec()
        .addNewSchedulingGate("tenant.example/never")
        .addNewContainer()
        .withName("main")
        .withImage("none")
        .endContainer()
        .endSpec()
        .build();
  }

  private static String template() {
    return """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: hopeless}
        spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, count: 8}}]}}}
        """;
  }

  private static String hopeless() {
    return """
        apiVersion: v1
        kind: Pod
        metadata: {name: hopeless}
        spec:
          resourceClaims: [{name: gpu, resourceClaimTemplateName: hopeless}]
          containers: [{name: main, image: none, resources: {claims: [{name: gpu}]}}]
        """;
  }
}
