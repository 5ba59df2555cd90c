package dev.partita.plugin;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.plugin.socket.UnixChannel;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.InfoRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.PluginInfo;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationGrpc;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationStatus;

/** A node for a test: its own folders, a simulated driver, and kubelet's side of the sockets. */
final class TestNode implements AutoCloseable {
  /** What hook-lib has built. */
  static final Path DIST = Path.of("..", "hook-lib", "target", "dist").toAbsolutePath().normalize();

  final String name;
  final Path root;

  private TestNode(String name, Path root) {
    this.name = name;
    this.root = root;
  }

  /** Skips the test if the simulated driver has not been built. */
  static TestNode withCards(String name, String gpus) throws IOException, InterruptedException {
    return withCards(withoutDriver(name), gpus);
  }

  /**
   * The same in a folder.
   *
   * @param folder whose path is short
   */
  static TestNode withCards(String name, String gpus, Path folder) throws IOException, InterruptedException {
    return withCards(in(name, Files.createTempDirectory(folder, "pkp")), gpus);
  }

  /** The same with another version of the driver. */
  static TestNode withCards(String name, String gpus, String driverVersion) throws IOException, InterruptedException {
    return withCards(withoutDriver(name), gpus, "--driver-version", driverVersion);
  }

  private static TestNode withCards(TestNode node, String gpus, String... more)
      throws IOException, InterruptedException {
    Path program = DIST.resolve("bin/partita-sim-driver");
    assumeTrue(Files.isExecutable(program), program + " is not there: build hook-lib first");
    node.simulator(
        Stream.concat(
            Stream.of("install", "--root", node.driverRoot().toString(), "--node", node.name, "--gpus", gpus),
            Stream.of(more)).toArray(String[]::new));
    return node;
  }

  /** A node on which no driver is installed. The path is short, since socket paths may only have 107 bytes. */
  static TestNode withoutDriver(String name) throws IOException {
    return in(name, Files.createTempDirectory("pkp"));
  }

  private static TestNode in(String name, Path root) throws IOException {
    TestNode node = new TestNode(name, root);
    Files.createDirectories(node.driverRoot());
    return node;
  }

  Path driverRoot() {
    return root.resolve("driver");
  }

  /** What it printed. */
  String simulator(String... arguments) throws IOException, InterruptedException {
    List<String> command =
        Stream.concat(Stream.of(DIST.resolve("bin/partita-sim-driver").toString()), Stream.of(arguments)).toList();
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(command + ": " + output);
    }
    return output;
  }

  /**
   * Settings of a plugin on this node.
   *
   * @param more options besides, which win
   */
  PluginSettings settings(String... more) throws IOException {
    Path libraries = Files.createDirectories(root.resolve("hook"));
    for (String library : List.of("libcuda-shadow.so", "libnvidia-ml-shadow.so", "partita-cdi-hook")) {
      if (!Files.exists(libraries.resolve(library))) {
        Files.writeString(libraries.resolve(library), library);
      }
    }
    List<String> options =
        List.of("--node-name=" + name, "--driver-root=" + driverRoot(), "--hook-libraries=" + libraries,
            "--install-root=" + root.resolve("opt"), "--state-root=" + root.resolve("state"),
            "--run-root=" + root.resolve("run"), "--cdi-root=" + root.resolve("cdi"),
            "--kubelet-registry-dir=" + root.resolve("registry"), "--kubelet-plugins-dir=" + root.resolve("plugins"),
            "--inventory-period=0.2");
    return PluginSettings.of(Stream.concat(options.stream(), Stream.of(more)).toList());
  }

  KubeletPlugin start(KubernetesClient client) throws IOException {
    return start(settings(), client);
  }

  /** Starts a plugin that asks the API server as the chart lets it: see {@link SentRequests}. */
  static KubeletPlugin start(PluginSettings settings, KubernetesClient client) {
    return KubeletPlugin.start(settings, () -> SentRequests.like(client));
  }

  Path registrationSocket() {
    return root.resolve("registry/gpu.partita.dev-reg.sock");
  }

  /** What kubelet does when the registration socket appears. */
  PluginInfo register() {
    return call(
        registrationSocket(),
        channel -> {
          RegistrationGrpc.RegistrationBlockingStub stub = RegistrationGrpc.newBlockingStub(channel);
          PluginInfo info = stub.getInfo(InfoRequest.getDefaultInstance());
          stub.notifyRegistrationStatus(RegistrationStatus.newBuilder().setPluginRegistered(true).build());
          return info;
        });
  }

  NodePrepareResourceResponse prepare(ResourceClaim claim) {
    return prepare(draSocket(), claim);
  }

  static NodePrepareResourceResponse prepare(Path socket, ResourceClaim claim) {
    return call(
        socket,
        channel -> DRAPluginGrpc.newBlockingStub(channel)
            .nodePrepareResources(NodePrepareResourcesRequest.newBuilder().addClaims(named(claim)).build())
            .getClaimsOrThrow(claim.getMetadata().getUid()));
  }

  /** The same with kubelet's patience. */
  static NodePrepareResourceResponse prepare(Path socket, Duration patience, ResourceClaim claim) {
    return Objects.requireNonNull(prepareAll(socket, patience, List.of(claim)).get(claim.getMetadata().getUid()));
  }

  /** Several claims in one call; the answers by UID. */
  static Map<String, NodePrepareResourceResponse> prepareAll(
      Path socket,
      Duration patience,
      List<ResourceClaim> claims) {
    return call(
        socket,
        channel -> DRAPluginGrpc.newBlockingStub(channel)
            .withDeadlineAfter(patience.toMillis(), TimeUnit.MILLISECONDS)
            .nodePrepareResources(
                NodePrepareResourcesRequest.newBuilder().addAllClaims(claims.stream().map(TestNode::named).toList())
                    .build())
            .getClaimsMap());
  }

  /** The quota file of the claim's first share. */
  String quota(ResourceClaim claim) throws IOException {
    return Files.readString(quotaFile(claim));
  }

  Path quotaFile(ResourceClaim claim) {
    String key = claim.getStatus().getAllocation().getDevices().getResults().getFirst().getShareID();
    return root.resolve("state/shares").resolve(claim.getMetadata().getUid()).resolve(key).resolve("quota");
  }

  /** The device metadata of a request of the claim. */
  Path metadata(ResourceClaim claim, String request) {
    return root.resolve("run/metadata/" + claim.getMetadata().getUid() + "/mounted/" + request
        + "/gpu.partita.dev-metadata.json");
  }

  /** The error of the call, empty if there is none. */
  String unprepare(ResourceClaim claim) {
    return unprepare(draSocket(), claim);
  }

  static String unprepare(Path socket, ResourceClaim claim) {
    return call(
        socket,
        channel -> DRAPluginGrpc.newBlockingStub(channel)
            .nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder().addClaims(named(claim)).build())
            .getClaimsOrThrow(claim.getMetadata().getUid())
            .getError());
  }

  Path draSocket() {
    return root.resolve("plugins/gpu.partita.dev/dra.sock");
  }

  Path cdiFile(ResourceClaim claim) {
    return root.resolve("cdi/gpu.partita.dev-claim_" + claim.getMetadata().getUid() + ".json");
  }

  Path record(ResourceClaim claim) {
    return root.resolve("state/claims/" + claim.getMetadata().getUid() + ".claim");
  }

  static <T> T call(Path socket, Function<ManagedChannel, T> call) {
    try (UnixChannel connection = UnixChannel.to(socket)) {
      return call.apply(connection.channel());
    }
  }

  static Claim named(ResourceClaim claim) {
    return Claim.newBuilder()
        .setNamespace(claim.getMetadata().getNamespace())
        .setName(claim.getMetadata().getName())
        .setUid(claim.getMetadata().getUid())
        .build();
  }

  /** A port that was free a moment ago. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    TestFolder.delete(root);
  }
}
