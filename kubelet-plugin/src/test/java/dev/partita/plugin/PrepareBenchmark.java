package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.OperatingSystemMXBean;
import dev.partita.cdi.DurableFile;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import org.junit.jupiter.api.Test;

/**
 * Measures how long kubelet waits for NodePrepareResources: the whole plugin over its unix socket, with the simulator's
 * NVML and 8 cards. First everything is on a tmpfs, which warms the JVM as well; then the state is on a real disk, and
 * what is below /run and /var/run/cdi on the tmpfs, as nodes have it. There are few rounds of that: ext4 gives no inode
 * away again within minutes, and walks over all that were deleted since for each new file, which no node has thousands
 * of. The API server is fabric8's mock in the same process, so that its work is on the same processors. Not run by a
 * build; PERFORMANCE.md has the command.
 */
@EnableKubernetesMockClient(crud = true)
class PrepareBenchmark {
  private static final String NODE = "node-of-bench";
  private static final int WARM_UP = Integer.getInteger("partita.bench.warmup", 300);
  private static final int SINGLE = Integer.getInteger("partita.bench.single", 100);
  private static final int ROUNDS = Integer.getInteger("partita.bench.rounds", 5);
  private static final int AT_ONCE = 100;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private int made;

  @Test
  void nodePrepareResources() throws Exception {
    Logger requests = Logger.getLogger("io.fabric8.mockwebserver");
    requests.setLevel(Level.WARNING); // a line for each costs more than the request
    try (TestFolder run = TestFolder.onTmpfs()) {
      System.out.println("all on a tmpfs:");
      try (TestNode node = TestNode.withCards(NODE, "h200x8", run.path())) {
        measure(node, run.path().resolve("first"), WARM_UP);
      }
      System.out.println("the state on a disk:");
      try (TestNode node = TestNode.withCards(NODE, "h200x8")) {
        measure(node, run.path().resolve("second"), 10);
      }
    }
  }

  private void measure(TestNode node, Path run, int warmUp) throws IOException {
    try (KubeletPlugin _ = KubeletPlugin.start(settings(node, run), client)) {
      TestNode.call(
          node.draSocket(),
          channel -> {
            try {
              measure(node, channel, warmUp);
              return true;
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          });
    }
  }

  private static PluginSettings settings(TestNode node, Path run) throws IOException {
    return node.settings("--hook-libraries=" + TestNode.DIST.resolve("lib"), "--inventory-period=20",
        "--run-root=" + run.resolve("partita"), "--cdi-root=" + run.resolve("cdi"));
  }

  private void measure(TestNode node, ManagedChannel channel, int warmUp) throws Exception {
    DRAPluginGrpc.DRAPluginBlockingStub kubelet = DRAPluginGrpc.newBlockingStub(channel);
    Path bare = Files.createDirectories(node.root.resolve("state/bare"));
    double[] single = new double[SINGLE];
    double[] fsyncs = new double[SINGLE];
    for (int i = -warmUp; i < SINGLE; i++) {
      List<ResourceClaim> one = claimsOfOnePod(1);
      double forced = milliseconds(() -> durably(bare.resolve("record")));
      double took = milliseconds(() -> prepare(kubelet, one));
      if (i >= 0) {
        single[i] = took;
        fsyncs[i] = forced;
      }
      release(kubelet, one);
    }
    print("one claim", single);
    double cpuOfOne = cpuOf(kubelet, 1);
    print("  its fsyncs alone (a file and its folder)", fsyncs);
    double one = percentile(single, 50);
    double[] oneCall = new double[ROUNDS];
    double[] calls = new double[ROUNDS];
    double[] requests = new double[ROUNDS];
    for (int round = -Math.min(warmUp / 30, 10); round < ROUNDS; round++) {
      List<ResourceClaim> ofOnePod = claimsOfOnePod(AT_ONCE);
      double together = milliseconds(() -> prepare(kubelet, ofOnePod));
      double readings = milliseconds(() -> readTwice(ofOnePod));
      release(kubelet, ofOnePod);
      List<List<ResourceClaim>> ofPods = IntStream.range(0, AT_ONCE).mapToObj(_ -> claimsOfOnePod(1)).toList();
      double apart = milliseconds(() -> prepareAtOnce(kubelet, ofPods));
      for (List<ResourceClaim> ofPod : ofPods) {
        release(kubelet, ofPod);
      }
      if (round >= 0) {
        oneCall[round] = together;
        calls[round] = apart;
        requests[round] = readings;
      }
    }
    print(AT_ONCE + " claims of one pod, one call", oneCall);
    print(AT_ONCE + " claims of as many pods, a call each", calls);
    print("  their " + 2 * AT_ONCE + " requests to the API server alone", requests);
    System.out.printf("processor time of plugin, kubelet's side and API server: one %.2f ms, %d at once %.2f ms%n",
        cpuOfOne, AT_ONCE, cpuOf(kubelet, AT_ONCE));
    System.out.printf(
        "%d at once by one: %.1f in one call, %.1f in a call each%n", AT_ONCE, percentile(oneCall, 50) / one,
        percentile(calls, 50) / one);
  }

  private interface Work {
    void run() throws Exception;
  }

  private static double milliseconds(Work work) throws Exception {
    long start = System.nanoTime();
    work.run();
    return (System.nanoTime() - start) / 1e6;
  }

  /**
   * Processor time of all threads of this process for one call with so many claims, in ms: the mean of a hundred calls
   * for one claim, and of ten for more. The kernel counts in steps of 10 ms, longer than one call takes, so that single
   * calls read as 0 or 10 ms and only their mean tells.
   */
  private double cpuOf(DRAPluginGrpc.DRAPluginBlockingStub kubelet, int count) {
    OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    int calls = count == 1 ? 100 : 10;
    long spent = 0;
    for (int i = 0; i < calls; i++) {
      List<ResourceClaim> claims = claimsOfOnePod(count);
      long start = process.getProcessCpuTime();
      prepare(kubelet, claims);
      spent += process.getProcessCpuTime() - start;
      release(kubelet, claims);
    }
    return spent / 1e6 / calls;
  }

  private void readTwice(List<ResourceClaim> claims) throws Exception {
    List<Future<?>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      claims.forEach(claim -> answers.add(threads.submit(() -> client.resource(claim).get())));
      claims.forEach(claim -> answers.add(threads.submit(() -> client.resource(claim).get())));
    }
    for (Future<?> answer : answers) {
      answer.get();
    }
  }

  private static void durably(Path file) throws IOException {
    DurableFile.write(file, new byte[1_024], PosixFilePermissions.fromString("rw-------"));
  }

  private static void prepare(DRAPluginGrpc.DRAPluginBlockingStub kubelet, List<ResourceClaim> claims) {
    assertThat(
        kubelet
            .nodePrepareResources(NodePrepareResourcesRequest.newBuilder()
                .addAllClaims(claims.stream().map(TestNode::named).toList()).build())
            .getClaimsMap()
            .values())
        .hasSize(claims.size())
        .extracting(NodePrepareResourceResponse::getError)
        .containsOnly("");
  }

  private static void prepareAtOnce(DRAPluginGrpc.DRAPluginBlockingStub kubelet, List<List<ResourceClaim>> calls)
      throws Exception {
    List<Future<?>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      calls.forEach(claims -> answers.add(threads.submit(() -> prepare(kubelet, claims))));
    }
    for (Future<?> answer : answers) {
      answer.get();
    }
  }

  /**
   * Takes them back once the plugin has written their status: what it does after its answer is not to disturb the next
   * measurement.
   */
  private void release(DRAPluginGrpc.DRAPluginBlockingStub kubelet, List<ResourceClaim> claims) {
    ResourceClaim last = claims.getLast();
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(2))
        .until(() -> !client.resource(last).get().getStatus().getDevices().isEmpty());
    assertThat(
        kubelet
            .nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder()
                .addAllClaims(claims.stream().map(TestNode::named).toList()).build())
            .getClaimsMap())
        .hasSize(claims.size());
    claims.forEach(claim -> client.resource(claim).delete());
    client.pods().inNamespace("default").delete();
    client.events().v1().events().inNamespace("default").delete();
  }

  private List<ResourceClaim> claimsOfOnePod(int count) {
    List<String> names = IntStream.range(0, count).mapToObj(_ -> "claim-" + made++).toList();
    Pod pod = client.resource(TestClaims.podOf("pod-of-" + names.getFirst(), names)).create();
    List<ResourceClaim> claims = new ArrayList<>();
    for (String name : names) {
      ResourceClaim claim = claim(name, share(NODE, "gpu", (made + claims.size()) % 8, "8Gi", "5"));
      claims.add(new TestApi(client).created(TestClaims.reserved(claim, pod)));
    }
    return claims;
  }

  private static void print(String what, double[] milliseconds) {
    System.out.printf(
        "%-45s p50 %7.2f ms   p99 %7.2f ms   of %d%n", what, percentile(milliseconds, 50), percentile(milliseconds, 99),
        milliseconds.length);
  }

  private static double percentile(double[] values, int percent) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
  }
}
