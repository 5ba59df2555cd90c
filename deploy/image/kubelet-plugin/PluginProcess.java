import dev.partita.plugin.socket.UnixChannel;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc.DRAPluginBlockingStub;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.InfoRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationGrpc;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationStatus;

/** A plugin that runs as a process of its own: what kubelet and Prometheus ask of it, and what it takes of the node. */
final class PluginProcess {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final SimulatedNode node;
  private final Process process;
  private final int healthPort;
  private final int metricsPort;
  private final long begin;

  PluginProcess(SimulatedNode node, List<String> command) throws IOException {
    this.node = node;
    healthPort = freePort();
    metricsPort = freePort();
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(node.log().toFile());
    Map<String, String> env = builder.environment();
    env.keySet().removeIf(name -> name.toLowerCase(Locale.ROOT).endsWith("_proxy")); // its API server is beside it
    env.put("MALLOC_ARENA_MAX", "1"); // as the chart does
    env.put("KUBERNETES_MASTER", "http://127.0.0.1:" + node.api.port());
    env.put("KUBECONFIG", node.root.resolve("none").toString());
    env.put("KUBERNETES_AUTH_TOKEN", "a pod has one"); // without any, fabric8 looks for one at every request
    env.put("PARTITA_NODE_NAME", SimulatedNode.NAME);
    env.put("PARTITA_DRIVER_ROOT", node.driver.toString());
    env.put("PARTITA_SYSFS_ROOT", node.driver.resolve("sys").toString());
    env.put("PARTITA_HOOK_LIBRARIES", node.plugin.resolve("hook").toString());
    env.put("PARTITA_INSTALL_ROOT", node.root.resolve("opt").toString());
    env.put("PARTITA_STATE_ROOT", node.root.resolve("state").toString());
    env.put("PARTITA_RUN_ROOT", node.run.resolve("run").toString());
    env.put("PARTITA_CDI_ROOT", node.run.resolve("cdi").toString());
    env.put("PARTITA_KUBELET_REGISTRY_DIR", node.root.resolve("reg").toString());
    env.put("PARTITA_KUBELET_PLUGINS_DIR", node.root.resolve("plugins").toString());
    env.put("PARTITA_CGROUP_ROOT", node.cgroups().getParent().toString());
    env.put("PARTITA_HEALTH_PORT", String.valueOf(healthPort));
    env.put("PARTITA_METRICS_PORT", String.valueOf(metricsPort));
    env.put("PARTITA_METRICS_ACCESS", "everybody");
    env.put("PARTITA_POD_RESOURCES_SOCKET", node.root.resolve("none").toString());
    begin = System.nanoTime();
    process = builder.start();
  }

  /** Registers it as kubelet does; milliseconds from its start. */
  long register() throws Exception {
    Path socket = node.root.resolve("reg/gpu.partita.dev-reg.sock");
    await("the registration socket", () -> Files.exists(socket));
    return call(
        socket,
        channel -> {
          var registration = RegistrationGrpc.newBlockingStub(channel).withWaitForReady().withDeadlineAfter(PATIENCE);
          registration.getInfo(InfoRequest.getDefaultInstance());
          registration.notifyRegistrationStatus(RegistrationStatus.newBuilder().setPluginRegistered(true).build());
          return (System.nanoTime() - begin) / 1_000_000;
        });
  }

  /** Waits until it has reported the node and says that it is ready. */
  void awaitReady() throws InterruptedException {
    await("the node's report", this::isReady);
  }

  private boolean isReady() {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + healthPort + "/readyz")).build();
      return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What kubelet does with a connection. */
  interface Kubelet {
    void with(DRAPluginBlockingStub plugin) throws Exception;
  }

  /** Has kubelet do something. */
  void asKubelet(Kubelet kubelet) throws Exception {
    call(
        node.root.resolve("plugins/gpu.partita.dev/dra.sock"),
        channel -> {
          kubelet.with(DRAPluginGrpc.newBlockingStub(channel));
          return true;
        });
  }

  /** Prepares claims by one call. */
  static void prepare(DRAPluginBlockingStub plugin, Collection<Integer> claims) {
    NodePrepareResourcesResponse answer =
        plugin.nodePrepareResources(
            NodePrepareResourcesRequest.newBuilder().addAllClaims(claims.stream().map(PluginProcess::named).toList())
                .build());
    boolean failed = answer.getClaimsMap().values().stream().anyMatch(claim -> !claim.getError().isEmpty());
    if (failed || answer.getClaimsCount() != claims.size()) {
      throw new IllegalStateException(answer.toString());
    }
  }

  /** Releases claims by one call. */
  static void release(DRAPluginBlockingStub plugin, Collection<Integer> claims) {
    plugin.nodeUnprepareResources(
        NodeUnprepareResourcesRequest.newBuilder().addAllClaims(claims.stream().map(PluginProcess::named).toList())
            .build());
  }

  private static Claim named(int claim) {
    return Claim.newBuilder().setNamespace("default").setName("claim-" + claim).setUid(ApiStandIn.uid(claim)).build();
  }

  /** A scrape: how long it took, and how many samples there were. */
  record Scrape(double milliseconds, long samples) {}

  /** Reads all metrics once. */
  Scrape scrape() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metricsPort + "/metrics")).build();
      long start = System.nanoTime();
      HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200 || !answer.body().contains("partita_card_details{")) {
        throw new IllegalStateException("no metrics: " + answer.statusCode() + " " + answer.body());
      }
      return new Scrape((System.nanoTime() - start) / 1e6,
          answer.body().lines().filter(line -> !line.startsWith("#")).count());
    }
  }

  /** Its resident memory, in words. */
  String memory() throws IOException {
    long all = 0;
    StringBuilder parts = new StringBuilder();
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith("VmRSS") || line.startsWith("RssAnon") || line.startsWith("RssFile")) {
        long mib = Long.parseLong(line.replaceAll("\\D", "")) >> 10;
        all = line.startsWith("VmRSS") ? mib : all;
        parts.append(line.startsWith("VmRSS") ? "" : (parts.isEmpty() ? "" : ", ") + line.split(":")[0] + " " + mib);
      }
    }
    return all + " MiB resident (" + parts + ")";
  }

  /** Processor time of all its threads, in ms. */
  long processorMillis() throws IOException {
    return millis(Path.of("/proc/" + process.pid() + "/stat"));
  }

  /**
   * That of the thread that waits for XID errors, which does nothing else: the simulator looks 500 times a second, a
   * driver lets it sleep.
   */
  long simulatorMillis() throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        if (name(thread).equals("xid")) {
          return millis(thread.resolve("stat"));
        }
      }
    }
    throw new IllegalStateException("no thread waits for XID errors");
  }

  /** Empty for one that has ended. */
  private static String name(Path thread) throws IOException {
    try {
      return Files.readString(thread.resolve("comm")).strip();
    } catch (NoSuchFileException e) {
      return "";
    }
  }

  private static long millis(Path stat) throws IOException {
    String[] fields = Files.readString(stat).replaceFirst(".*\\) ", "").split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10; // utime and stime in ticks of 10 ms
  }

  void stop() throws Exception {
    process.destroy();
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      kill();
      throw new IllegalStateException("the plugin did not end");
    }
  }

  void kill() {
    process.destroyForcibly();
  }

  private interface Call<T> {
    T on(ManagedChannel channel) throws Exception;
  }

  private static <T> T call(Path socket, Call<T> call) throws Exception {
    try (UnixChannel connection = UnixChannel.to(socket)) {
      return call.on(connection.channel());
    }
  }

  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("no sign of " + what);
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
