package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OurContainers;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What a tenant with the role {@code edit} can send at once: connections that say nothing, pods with as much metadata as the
 * API takes, and pods that no node can hold. Runs alone, for all of that is a load on the API server as well.
 */
@OnRealCluster
@Isolated("its load would slow down every other test")
class HostileLoadIT {
  /** kubelet ends a container whose probe has failed three times, 20 s apart. */
  private static final Duration KILLED_AFTER = Duration.ofSeconds(60);

  private static final int CONNECTIONS = 300; // of each port; a container may have 1,024 files open
  private static final int LARGE_PODS = 400;
  private static final int HOPELESS_PODS = 400;

  @Test
  void noConnectionNoLargePodAndNoHopelessPodKeepsANeighbourWaiting(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    OurContainers before = OurContainers.of(cluster, node);
    try (Tenant tenant = Tenant.in(workspace);
        Workspace neighbour = workspace.another()) {
      Instant start = Instant.now();
      tenant.create(connecting(cluster, node));
      tenant.create(template());
      List<Duration> waits = new ArrayList<>();
      IntStream.range(0, Math.max(LARGE_PODS, HOPELESS_PODS))
          .forEach(
              i -> {
                if (i < LARGE_PODS) {
                  tenant.create(large(i));
                }
                if (i < HOPELESS_PODS) {
                  tenant.create(hopeless(i));
                }
                if (i % 100 == 50) {
                  waits.add(servedWithin(neighbour, node, i));
                }
              });
      for (int i = 1000; Duration.between(start, Instant.now()).compareTo(KILLED_AFTER.plusSeconds(20)) < 0; i++) {
        waits.add(servedWithin(neighbour, node, i));
      }
      System.out.println("hostile load: a neighbour's pods had ended after " + waits);
      assertThat(waits).allMatch(wait -> wait.compareTo(Duration.ofSeconds(30)) < 0);
      assertThat(OurContainers.of(cluster, node)).as("containers of ours that were started again").isEqualTo(before);
    }
  }

  /** From the pod's creation to its end. */
  private static Duration servedWithin(Workspace neighbour, String node, int number) {
    Instant asked = Instant.now();
    String log = neighbour.pod("served-" + number, node, Ask.share("1Gi"), "partita-probe alloc 512Mi").awaitLog();
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
          .forEach(port -> script.append("half ").append(pod.getStatus().getPodIP()).append(' ').append(port.getContainerPort()).append("; "));
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

  private static String large(int number) {
    return """
        apiVersion: v1
        kind: Pod
        metadata: {name: large-%d, annotations: {filler: "%s"}}
        spec:
          schedulingGates: [{name: tenant.example/never}]
          containers: [{name: main, image: none}]
        """
        .formatted(number, "x".repeat((256 << 10) - 100));
  }

  private static String template() {
    return """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: hopeless}
        spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, count: 8}}]}}}
        """;
  }

  private static String hopeless(int number) {
    return """
        apiVersion: v1
        kind: Pod
        metadata: {name: hopeless-%d}
        spec:
          resourceClaims: [{name: gpu, resourceClaimTemplateName: hopeless}]
          containers: [{name: main, image: none, resources: {claims: [{name: gpu}]}}]
        """
        .formatted(number);
  }
}
