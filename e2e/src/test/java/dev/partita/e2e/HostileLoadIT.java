package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OurContainers;
import dev.partita.e2e.cluster.Parallel;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What a tenant with the role {@code edit} can send at once: connections that say nothing, pods with as much metadata
 * as the API takes, and pods that no node can hold. Runs alone, for all of that is a load on the API server as well.
 */
@OnRealCluster
@Isolated("its load would slow down every other test")
class HostileLoadIT {
  /** kubelet ends a container whose probe has failed three times, 20 s apart. */
  private static final Duration KILLED_AFTER = Duration.ofSeconds(60);

  private static final int CONNECTIONS = 300; // of each port; a container may have 1,024 files open
  private static final int LARGE_PODS = 1_200;
  private static final int HOPELESS_PODS = 400;

  /** How many calls the tenant has under way at once. */
  private static final int CALLS = 6;

  private static final String PART = "part";

  @Test
  void noConnectionNoLargePodAndNoHopelessPodKeepsANeighbourWaiting(RealCluster cluster, Workspace workspace)
      throws Exception {
    String node = cluster.quietNodes().getFirst();
    OurContainers before = OurContainers.of(cluster, node);
    try (Tenant tenant = Tenant.in(workspace);
        Workspace neighbour = workspace.another();
        ExecutorService calls = Executors.newFixedThreadPool(CALLS + 1)) {
      Instant start = Instant.now();
      tenant.create(connecting(cluster, node));
      tenant.create(template());
      Future<?> making = calls.submit(() -> makePods(tenant, calls));
      List<Duration> waits = new ArrayList<>();
      boolean over;
      do {
        over = making.isDone() && Duration.between(start, Instant.now()).compareTo(KILLED_AFTER.plusSeconds(20)) > 0;
        waits.add(servedWithin(neighbour, node, waits.size()));
      } while (!over);
      making.get();
      System.out.println("hostile load: lasted " + Duration.between(start, Instant.now()));
      System.out.println("hostile load: a neighbour's pods had ended after " + waits);
      assertThat(waits).allMatch(wait -> wait.compareTo(Duration.ofSeconds(30)) < 0);
      assertThat(OurContainers.of(cluster, node)).as("containers of ours that were started again").isEqualTo(before);
      Parallel.run(calls, CALLS, part -> workspace.deletePods(PART + "=" + part));
      System.out.println("hostile load: was over after " + Duration.between(start, Instant.now()));
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
                    .addToLabels(PART, part(i))
                    .endMetadata()
                    .build());
          }
        });
    return null;
  }

  private static String part(int number) {
    return Integer.toString(number % CALLS);
  }

  /** From the pod's creation to its end. */
  private static Duration servedWithin(Workspace neighbour, String node, int number) {
    Instant asked = Instant.now();
    String log = neighbour.pod("served-" + number, node, Ask.share("1Gi"), "partita-probe alloc 256Mi").awaitLog();
    assertThat(log).contains("CUDA_SUCCESS");
    return Duration.between(asked, Instant.now());
  }

  /** A pod that leaves half a request on every port of ours that it reaches, and keeps the connections. */
  private static String connecting(RealCluster cluster, String node) {
    List<Pod> ours = new ArrayList<>(new Controllers(cluster).ready());
    ours.add(new Daemons(cluster.client()).awaitPlugin(node));
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
        .addToLabels(PART, part(number))
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
