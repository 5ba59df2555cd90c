import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.partita.plugin.PluginLog;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.InfoRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationGrpc;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationStatus;

/**
 * Runs the staged plugin as its image does, on simulated cards, and plays kubelet and the API server to it.
 *
 * <pre> java -cp 'PLUGIN/app/*' Rehearsal.java rehearse PLUGIN DIST # writes PLUGIN/plugin.aot, which later starts map
 * (JEP 483, 514) java -cp 'PLUGIN/app/*' Rehearsal.java measure PLUGIN DIST # prints start, memory and processor time
 * </pre>
 *
 * PLUGIN is the folder that the image has as /usr/lib/partita, DIST what hook-lib builds.
 */
final class Rehearsal implements AutoCloseable {
  private static final String IN_IMAGE = "/usr/lib/partita";
  private static final String CACHE_OPTION = "-XX:AOTCache=";
  private static final String NODE = "rehearsal";
  private static final int CARDS = 8;
  private static final int SHARES = 200;
  private static final int STARTS = Integer.getInteger("starts", 7);
  private static final int SCRAPES = 20;
  private static final Duration IDLE = Duration.ofSeconds(Integer.getInteger("idle", 60));
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final Path plugin;
  private final Path root;
  private final Path driver;
  private final Api api;
  private final List<Process> started = new ArrayList<>();

  private Rehearsal(Path plugin, Path dist) throws IOException, InterruptedException {
    this.plugin = plugin;
    this.root = Files.createTempDirectory("pr"); // short: the path of a socket has 107 bytes at most
    this.driver = root.resolve("driver");
    this.api = new Api();
    run(dist.resolve("bin/partita-sim-driver"), "install", "--root", driver, "--node", NODE, "--gpus", "h200x" + CARDS);
  }

  public static void main(String[] args) throws Exception {
    System.setProperty(PluginLog.PROPERTY, ""); // else gRPC tells of every byte
    Path plugin = Path.of(args[1]).toAbsolutePath().normalize();
    try (Rehearsal rehearsal = new Rehearsal(plugin, Path.of(args[2]).toAbsolutePath().normalize())) {
      switch (args[0]) {
        case "rehearse" -> rehearsal.withLog(rehearsal::rehearse);
        case "measure" -> rehearsal.withLog(rehearsal::measure);
        default -> throw new IllegalArgumentException(args[0] + " is neither rehearse nor measure");
      }
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
    System.exit(0); // an HTTP server's threads are none of daemons
  }

  private interface Play {
    void run() throws Exception;
  }

  private void withLog(Play play) throws Exception {
    try {
      play.run();
    } catch (Exception e) {
      throw new IllegalStateException(e + "; the plugin said:\n" + Files.readString(root.resolve("log")), e);
    }
  }

  /** One life of a plugin, with what it does at every start and for every claim. */
  private void rehearse() throws Exception {
    Path cache = plugin.resolve("plugin.aot");
    Files.deleteIfExists(cache);
    Plugin process = new Plugin("-XX:AOTCacheOutput=" + cache);
    process.register();
    for (int claim = 0; claim < CARDS; claim++) {
      process.prepare(claim);
    }
    await("the node's report", () -> process.isReady());
    process.scrape();
    for (int claim = 0; claim < CARDS; claim++) {
      process.unprepare(claim);
    }
    process.stop();
    if (!Files.exists(cache)) {
      throw new IllegalStateException("no cache was made");
    }
  }

  private void measure() throws Exception {
    List<Long> bare = new ArrayList<>();
    List<Long> registered = new ArrayList<>();
    for (int i = 0; i < STARTS; i++) {
      bare.add(bareStart());
      Plugin process = new Plugin();
      registered.add(process.register());
      await("the node's report", () -> process.isReady());
      process.stop();
    }
    System.out.printf(
        "start to registered with kubelet: %d ms (median of %d: %s); a bare JVM: %d ms (%s); ratio %.1f%n",
        median(registered), STARTS, registered, median(bare), bare, (double) median(registered) / median(bare));
    Plugin process = new Plugin();
    process.register();
    await("the node's report", () -> process.isReady());
    for (int claim = 0; claim < SHARES; claim++) {
      process.prepare(claim);
    }
    System.out.printf("memory, %d cards, %d shares just prepared: %s%n", CARDS, SHARES, process.memory());
    TimeUnit.SECONDS.sleep(10);
    process.printIdle(SHARES + " shares");
    process.printScrapes();
    for (int claim = 0; claim < SHARES; claim++) {
      process.unprepare(claim);
    }
    TimeUnit.SECONDS.sleep(10);
    process.printIdle("no share");
    process.stop();
  }

  /** Milliseconds from start to end of a JVM of the same options that loads nothing of ours. */
  private long bareStart() throws Exception {
    List<String> command = new ArrayList<>(List.of(java()));
    options().filter(option -> option.startsWith("-X") && !option.startsWith(CACHE_OPTION)).forEach(command::add);
    command.add("-version");
    long begin = System.nanoTime();
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    process.waitFor();
    return millisSince(begin);
  }

  private String java() {
    return plugin.resolve("runtime/bin/java").toString();
  }

  /** The image's own options, on the folder in which it was laid out. */
  private Stream<String> options() throws IOException {
    return Files.readAllLines(plugin.resolve("java.args")).stream()
        .map(line -> line.replace(IN_IMAGE, plugin.toString()));
  }

  private record Scrape(double milliseconds, long samples) {}

  private final class Plugin {
    final Path log = root.resolve("log");
    final Process process;
    final int healthPort;
    final int metricsPort;
    final long begin;

    Plugin(String... replacesCache) throws IOException {
      List<String> command = new ArrayList<>(List.of(java()));
      command.addAll(List.of(replacesCache));
      options().filter(option -> replacesCache.length == 0 || !option.startsWith(CACHE_OPTION)).forEach(command::add);
      healthPort = freePort();
      metricsPort = freePort();
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
      Map<String, String> env = builder.environment();
      env.put("MALLOC_ARENA_MAX", "1"); // as the chart does
      env.put("KUBERNETES_MASTER", "http://127.0.0.1:" + api.port());
      env.put("KUBECONFIG", root.resolve("none").toString());
      env.put("PARTITA_NODE_NAME", NODE);
      env.put("PARTITA_DRIVER_ROOT", driver.toString());
      env.put("PARTITA_SYSFS_ROOT", driver.resolve("sys").toString());
      env.put("PARTITA_HOOK_LIBRARIES", plugin.resolve("hook").toString());
      env.put("PARTITA_INSTALL_ROOT", root.resolve("opt").toString());
      env.put("PARTITA_STATE_ROOT", root.resolve("state").toString());
      env.put("PARTITA_RUN_ROOT", root.resolve("run").toString());
      env.put("PARTITA_CDI_ROOT", root.resolve("cdi").toString());
      env.put("PARTITA_KUBELET_REGISTRY_DIR", root.resolve("reg").toString());
      env.put("PARTITA_KUBELET_PLUGINS_DIR", root.resolve("plugins").toString());
      env.put("PARTITA_HEALTH_PORT", String.valueOf(healthPort));
      env.put("PARTITA_METRICS_PORT", String.valueOf(metricsPort));
      env.put("PARTITA_METRICS_ACCESS", "everybody");
      env.put("PARTITA_POD_RESOURCES_SOCKET", root.resolve("none").toString());
      begin = System.nanoTime();
      process = builder.start();
      started.add(process);
    }

    /** Milliseconds from its start. */
    long register() throws Exception {
      Path socket = root.resolve("reg/gpu.partita.dev-reg.sock");
      await("the registration socket", () -> Files.exists(socket));
      return call(
          socket,
          channel -> {
            var registration = RegistrationGrpc.newBlockingStub(channel).withWaitForReady();
            registration.getInfo(InfoRequest.getDefaultInstance());
            registration.notifyRegistrationStatus(RegistrationStatus.newBuilder().setPluginRegistered(true).build());
            return millisSince(begin);
          });
    }

    void prepare(int claim) throws Exception {
      String error =
          call(
              root.resolve("plugins/gpu.partita.dev/dra.sock"),
              channel -> DRAPluginGrpc.newBlockingStub(channel)
                  .nodePrepareResources(NodePrepareResourcesRequest.newBuilder().addClaims(named(claim)).build())
                  .getClaimsOrThrow(Api.uid(claim))
                  .getError());
      if (!error.isEmpty()) {
        throw new IllegalStateException(error);
      }
    }

    void unprepare(int claim) throws Exception {
      call(
          root.resolve("plugins/gpu.partita.dev/dra.sock"),
          channel -> DRAPluginGrpc.newBlockingStub(channel)
              .nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder().addClaims(named(claim)).build()));
    }

    boolean isReady() {
      try (HttpClient http = HttpClient.newHttpClient()) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + healthPort + "/readyz")).build();
        return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
      } catch (IOException e) {
        return false;
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Milliseconds for all metrics, and how many samples there are. */
    Scrape scrape() throws Exception {
      try (HttpClient http = HttpClient.newHttpClient()) {
        HttpRequest request =
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metricsPort + "/metrics")).build();
        long start = System.nanoTime();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200 || !answer.body().contains("partita_card_details{")) {
          throw new IllegalStateException("no metrics: " + answer.statusCode() + " " + answer.body());
        }
        return new Scrape((System.nanoTime() - start) / 1e6,
            answer.body().lines().filter(line -> !line.startsWith("#")).count());
      }
    }

    void printScrapes() throws Exception {
      long before = processorMillis();
      List<Scrape> scrapes = new ArrayList<>();
      for (int i = 0; i < SCRAPES; i++) {
        TimeUnit.MILLISECONDS.sleep(1_200); // within a second the text is not made anew
        scrapes.add(scrape());
      }
      scrapes.sort(Comparator.comparingDouble(Scrape::milliseconds));
      System.out.printf(
          "a scrape, %d cards, %d shares: median %.1f ms, longest %.1f ms, %d samples, %.1f ms of processor time; then %s%n",
          CARDS, SHARES, scrapes.get(SCRAPES / 2).milliseconds(), scrapes.getLast().milliseconds(),
          scrapes.getLast().samples(), (double) (processorMillis() - before) / SCRAPES, memory());
    }

    void printIdle(String with) throws Exception {
      long before = processorMillis();
      long inSimulator = simulatorMillis();
      TimeUnit.NANOSECONDS.sleep(IDLE.toNanos());
      long used = processorMillis() - before;
      long ofSimulator = simulatorMillis() - inSimulator;
      System.out.printf("memory, %d cards, %s: %s%n", CARDS, with, memory());
      System.out.printf(
          "processor time, %s, %d s: %.2f %% of a core, and %.2f %% in the simulator's wait for events%n",
          with, IDLE.toSeconds(), (used - ofSimulator) / 10.0 / IDLE.toSeconds(),
          ofSimulator / 10.0 / IDLE.toSeconds());
    }

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

    private long processorMillis() throws IOException {
      return millis(Path.of("/proc/" + process.pid() + "/stat"));
    }

    /**
     * Of the thread that waits for XID errors, which does nothing else: the simulator looks 500 times a second, a
     * driver lets it sleep.
     */
    private long simulatorMillis() throws IOException {
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
        process.destroyForcibly();
        throw new IllegalStateException("the plugin did not end");
      }
    }
  }

  private interface Call<T> {
    T on(ManagedChannel channel);
  }

  private static <T> T call(Path socket, Call<T> call) {
    EventLoopGroup events = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
            .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
            .eventLoopGroup(events)
            .overrideAuthority("localhost")
            .usePlaintext()
            .build();
    try {
      return call.on(channel);
    } finally {
      channel.shutdownNow();
      events.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  private static Claim named(int claim) {
    return Claim.newBuilder().setNamespace("default").setName("claim-" + claim).setUid(Api.uid(claim)).build();
  }

  /** As much of an API server as a plugin asks for. */
  private static final class Api {
    private static final String GPU_NODES = "/apis/gpu.partita.dev/v1alpha1/gpunodes";
    private final HttpServer server;
    private final Map<String, String> stored = new ConcurrentHashMap<>();

    Api() throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      server.createContext("/", this::answer);
      server.start();
    }

    int port() {
      return server.getAddress().getPort();
    }

    static String uid(int claim) {
      return String.format("0b5e8a9e-0000-4000-8000-%012d", claim);
    }

    private void answer(HttpExchange exchange) throws IOException {
      String path = exchange.getRequestURI().getPath();
      String query = String.valueOf(exchange.getRequestURI().getQuery());
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      if (query.contains("watch=true")) {
        exchange.sendResponseHeaders(200, 0); // nothing happens: it is left open
        exchange.getResponseBody().flush();
        return;
      }
      String method = exchange.getRequestMethod();
      if (path.equals(GPU_NODES) && method.equals("GET")) {
        String items = String.join(",", stored.values());
        send(exchange, 200,
            "{\"apiVersion\":\"gpu.partita.dev/v1alpha1\",\"kind\":\"GpuNodeList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":["
                + items + "]}");
      } else if (path.startsWith(GPU_NODES)) {
        gpuNode(exchange, path, method, body);
      } else if (path.contains("/resourceclaims/")) {
        String name = path.replaceAll(".*/resourceclaims/", "").replaceAll("/.*", "");
        send(exchange, 200, claim(Integer.parseInt(name.replace("claim-", ""))));
      } else if (method.equals("GET")) {
        send(exchange, 404,
            "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\",\"code\":404}");
      } else {
        send(exchange, 201, body);
      }
    }

    private void gpuNode(HttpExchange exchange, String path, String method, String body) throws IOException {
      if (method.equals("GET")) {
        String node = stored.get(NODE);
        send(exchange, node == null ? 404 : 200,
            node == null ? "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"code\":404}" : node);
      } else {
        stored.put(NODE, body);
        send(exchange, method.equals("POST") ? 201 : 200, body);
      }
    }

    private static void send(HttpExchange exchange, int code, String body) throws IOException {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(code, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    }

    private static String claim(int number) {
      return """
          {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
           "metadata": {"namespace": "default", "name": "claim-%d", "uid": "%s", "resourceVersion": "1"},
           "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.partita.dev"}}]}},
           "status": {"allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.partita.dev",
             "pool": "%s/gpu", "device": "gpu-%d-shared", "shareID": "%s",
             "consumedCapacity": {"memory": "1Gi", "cores": "3"}}]}}}}"""
          .formatted(number, uid(number), NODE, number % CARDS, uid(1000 + number));
    }
  }

  private static void run(Object... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(Stream.of(command).map(String::valueOf).toList()).redirectErrorStream(true).start();
    try (InputStream output = process.getInputStream()) {
      String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command[0] + ": " + said);
      }
    }
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
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

  private static long median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static long millisSince(long begin) {
    return (System.nanoTime() - begin) / 1_000_000;
  }

  @Override
  public void close() throws IOException {
    started.forEach(Process::destroyForcibly);
    api.server.stop(0);
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
