package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Faults around a whole plugin that kubelet asks over its socket: after each it works on, and leaves nothing. */
@MockApiServer(crud = true)
class NodeFaultsTest {
  private static final FaultTable TABLE = new FaultTable("Faults of the node");
  private static final Duration SOON = Duration.ofSeconds(30);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @AfterAll
  static void print() {
    TABLE.print();
  }

  @Test
  void theCdiFolderIsWiped() throws Exception {
    try (TestNode node = TestNode.withCards("node-1", "t4x1");
        KubeletPlugin _ = TestNode.start(node.settings("--sweep-period=0.1"), client)) {
      ResourceClaim claim = api().created(claim("wiped", share("node-1", "gpu", 0, "1Gi", "")));
      NodePrepareResourceResponse first = node.prepare(claim);
      Files.delete(node.cdiFile(claim));
      await().atMost(SOON).until(() -> Files.exists(node.cdiFile(claim)));
      Files.delete(node.cdiFile(claim));
      Files.delete(node.root.resolve("cdi"));
      boolean survived = node.prepare(claim).equals(first) && Files.exists(node.cdiFile(claim));
      releaseAndTell(node, claim, "CDI folder wiped", "while a claim is prepared", survived);
      ResourceClaim ending = api().created(claim("ending", share("node-1", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(ending).getError()).isEmpty();
      Files.delete(node.cdiFile(ending));
      releaseAndTell(node, ending, "CDI folder wiped", "before unprepare", true);
    }
  }

  @Test
  void aRecordIsTruncatedOrHasABitFlipped() throws Exception {
    try (TestNode node = TestNode.withCards("node-2", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      Random random = new Random(7);
      for (String fault : List.of("checkpoint truncated", "checkpoint bit-flipped")) {
        for (boolean again : List.of(true, false)) {
          ResourceClaim claim =
              api().created(claim("torn-" + fault.length() + again, share("node-2", "gpu", 0, "1Gi", "")));
          NodePrepareResourceResponse first = node.prepare(claim);
          byte[] record = Files.readAllBytes(node.record(claim));
          if (fault.endsWith("truncated")) {
            record = java.util.Arrays.copyOf(record, random.nextInt(record.length));
          } else {
            record[random.nextInt(record.length)] ^= (byte) (1 << random.nextInt(8));
          }
          Files.write(node.record(claim), record);
          boolean survived = !again || node.prepare(claim).equals(first);
          releaseAndTell(node, claim, fault, again ? "before prepare is asked again" : "before unprepare", survived);
        }
      }
    }
  }

  @Test
  void aSmallTmpfsIsFullOrReadOnly() throws Exception {
    for (String folder : List.of("state", "run", "cdi")) {
      try (TestNode node = TestNode.withCards("node-3", "t4x1")) {
        Path mounted = Files.createDirectories(node.root.resolve(folder));
        if (!ran("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mounted.toString())) {
          TABLE.skipped("full or read-only tmpfs", folder, "this user may not mount");
          continue;
        }
        try (KubeletPlugin _ = node.start(client)) {
          Path filler = mounted.resolve("filler");
          fill(filler);
          ResourceClaim claim = api().created(claim("full-" + folder, share("node-3", "gpu", 0, "1Gi", "")));
          String refusal = node.prepare(claim).getError();
          boolean clean = left(node, claim).isEmpty();
          Files.delete(filler);
          boolean survived = !refusal.isEmpty() && clean && node.prepare(claim).getError().isEmpty();
          fill(filler);
          releaseAndTell(node, claim, "full tmpfs of 1 MiB", folder + ": prepare, and unprepare while it is full",
              survived);
          Files.delete(filler);

          if (!ran("mount", "-o", "remount,ro", mounted.toString())) {
            TABLE.skipped("read-only tmpfs", folder,
                "the plugin has its lock files open there, which keeps it writable");
            continue;
          }
          ResourceClaim late = api().created(claim("late-" + folder, share("node-3", "gpu", 0, "1Gi", "")));
          refusal = node.prepare(late).getError();
          assertThat(ran("mount", "-o", "remount,rw", mounted.toString())).isTrue();
          survived = refusal.contains("Read-only") && node.prepare(late).getError().isEmpty();
          // a usage region that is open keeps its folder writable
          if (ran("mount", "-o", "remount,ro", mounted.toString())) {
            survived &= !node.unprepare(late).isEmpty(); // it says so, and kubelet asks again
            assertThat(ran("mount", "-o", "remount,rw", mounted.toString())).isTrue();
          }
          releaseAndTell(node, late, "read-only tmpfs", folder + ": prepare and unprepare, asked again later",
              survived);
        } finally {
          assertThat(ran("umount", "--lazy", mounted.toString())).isTrue();
        }
      }
    }
  }

  @Test
  void whatIsAskedOverTheSocketIsMalformed() throws Exception {
    try (TestNode node = TestNode.withCards("node-4", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      Random random = new Random(7);
      List<byte[]> garbage = new ArrayList<>();
      garbage.add("GET / HTTP/1.1\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      garbage.add("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\4garbage".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      for (int i = 0; i < 20; i++) {
        byte[] noise = new byte[1 + random.nextInt(4_096)];
        random.nextBytes(noise);
        garbage.add(noise);
      }
      for (byte[] bytes : garbage) {
        try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
          socket.connect(UnixDomainSocketAddress.of(node.draSocket()));
          socket.write(ByteBuffer.wrap(bytes));
        }
      }
      ResourceClaim claim = api().created(claim("after", share("node-4", "gpu", 0, "1Gi", "")));
      releaseAndTell(node, claim, "malformed gRPC", "bytes that are no HTTP/2",
          node.prepare(claim).getError().isEmpty());

      int refused = 0;
      for (byte[] bytes : garbage) {
        refused += isRefused(node, bytes) ? 1 : 0;
      }
      ResourceClaim next = api().created(claim("next", share("node-4", "gpu", 0, "1Gi", "")));
      boolean survived = refused > 0 && node.prepare(next).getError().isEmpty();
      releaseAndTell(node, next, "malformed gRPC", "messages that are no protobuf", survived);

      ResourceClaim good = api().created(claim("good", share("node-4", "gpu", 0, "1Gi", "")));
      NodePrepareResourcesRequest.Builder mixed =
          NodePrepareResourcesRequest.newBuilder().addClaims(TestNode.named(good));
      List<String> uids = List.of("", ".", "../../etc/passwd", "a/b", "x".repeat(1_000), "\0", "-");
      uids.forEach(uid -> mixed.addClaims(Claim.newBuilder().setNamespace("default").setName("n").setUid(uid)));
      var answers = TestNode.call(node.draSocket(),
          channel -> DRAPluginGrpc.newBlockingStub(channel).nodePrepareResources(mixed.build()));
      survived = answers.getClaimsOrThrow(good.getMetadata().getUid()).getError().isEmpty();
      assertThat(uids).allSatisfy(
          uid -> assertThat(answers.getClaimsOrThrow(uid).getError()).contains("is not the UID of a claim"));
      releaseAndTell(node, good, "malformed gRPC", "UIDs that are paths, beside a good one", survived);
    }
  }

  @Test
  void theDriverHangs() throws Exception {
    try (TestNode node = TestNode.withCards("node-5", "h100x2");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim before = api().created(claim("before", whole("node-5", "gpu", 0)));
      assertThat(node.prepare(before).getError()).isEmpty();
      node.simulator("fault", "--root", node.driverRoot().toString(), "--function", "nvmlDeviceGetCount_v2",
          "--delay-us", "30000000");
      await().atMost(SOON).until(() -> node.simulator("fault", "--root", node.driverRoot().toString(), "--list"),
          list -> !list.isBlank());
      ResourceClaim claim = api().created(claim("while", share("node-5", "gpu", 1, "1Gi", "")));
      boolean survived = TestNode.prepare(node.draSocket(), Duration.ofSeconds(20), claim).getError().isEmpty();
      releaseAndTell(node, claim, "hung driver", "prepare a share and unprepare it", survived);
      releaseAndTell(node, before, "hung driver", "unprepare a card of before", true);
      node.simulator("fault", "--root", node.driverRoot().toString(), "--clear");
    }
  }

  /** Whether a call with these bytes for a message fails; some of them are messages. */
  private static boolean isRefused(TestNode node, byte[] message) {
    MethodDescriptor<byte[], byte[]> method =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(DRAPluginGrpc.getNodePrepareResourcesMethod().getFullMethodName())
            .setRequestMarshaller(AsTheyAre.BYTES)
            .setResponseMarshaller(AsTheyAre.BYTES)
            .build();
    return TestNode.call(
        node.draSocket(),
        channel -> {
          try {
            ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, message);
            return false;
          } catch (StatusRuntimeException e) {
            return true;
          }
        });
  }

  private enum AsTheyAre implements MethodDescriptor.Marshaller<byte[]> {
    BYTES;

    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void fill(Path file) throws IOException {
    try (var out = Files.newOutputStream(file)) {
      while (true) {
        out.write(new byte[512]);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
    }
  }

  private static boolean ran(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
        .waitFor() == 0;
  }

  private void releaseAndTell(TestNode node, ResourceClaim claim, String fault, String step, boolean survived)
      throws IOException {
    String problem = node.unprepare(claim);
    client.resource(claim).delete();
    List<String> left = left(node, claim);
    TABLE.add(fault, step, survived && problem.isEmpty(), left);
    assertThat(problem).as(step).isEmpty();
    assertThat(survived).as("%s, %s", fault, step).isTrue();
    assertThat(left).as(step).isEmpty();
  }

  /** Files whose names have the claim's UID, but for records that were set aside. */
  private static List<String> left(TestNode node, ResourceClaim claim) throws IOException {
    List<String> left = new ArrayList<>();
    for (String folder : List.of("cdi", "state/claims", "state/shares", "run/shares", "run/metadata")) {
      Path path = node.root.resolve(folder);
      if (Files.isDirectory(path)) {
        try (Stream<Path> files = Files.list(path)) {
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.contains(claim.getMetadata().getUid()) && !name.contains(".unreadable-"))
              .forEach(name -> left.add(folder + "/" + name));
        }
      }
    }
    return left;
  }

  private TestApi api() {
    return new TestApi(client);
  }
}
