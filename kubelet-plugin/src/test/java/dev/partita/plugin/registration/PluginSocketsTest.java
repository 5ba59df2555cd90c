package dev.partita.plugin.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.BindableService;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PluginSocketsTest {
  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @Test
  void socketsThatAnEarlierPluginHasLeftAreRemovedAndThoseOfOneThatRunsStay() throws IOException {
    Path left = left("gone");
    try (PluginSockets _ = open("first"); PluginSockets _ = open("second")) {
      assertThat(left).doesNotExist();
      assertThat(dra("first")).exists();
      assertThat(dra("second")).exists();
    }
    assertThat(dra("first")).doesNotExist();
    assertThat(dra("second")).doesNotExist();
  }

  @Test
  void noSocketIsTakenForOneThatIsLeftWhileAnotherPluginOpensItsOwn() throws Exception {
    Path bound = left("other"); // what has not come to listen yet answers as this does
    CompletableFuture<PluginSockets> opened = new CompletableFuture<>();
    Thread opening;
    try (FileChannel file = FileChannel.open(
        folder().resolve(PluginSockets.LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = file.lock()) {
      opening = Thread.ofPlatform().start(() -> {
        try {
          opened.complete(open("this"));
        } catch (IOException e) {
          opened.completeExceptionally(e);
        }
      });
      await().atMost(Duration.ofSeconds(20))
          .until(() -> opened.isDone() || opening.getState() == Thread.State.TIMED_WAITING);
      assertThat(bound).exists();
      assertThat(opened).isNotDone();
    }
    opening.join();
    opened.join().close();
    assertThat(bound).doesNotExist();
  }

  @Test
  void aSocketThatWasRemovedIsNoticed() throws IOException {
    Path registration = root.resolve("r/gpu.partita.dev-this-reg.sock");
    DRAPluginGrpc.DRAPluginImplBase answering = new DRAPluginGrpc.DRAPluginImplBase() {
      @Override
      public void nodeUnprepareResources(
          NodeUnprepareResourcesRequest request,
          StreamObserver<NodeUnprepareResourcesResponse> response) {
        response.onNext(NodeUnprepareResourcesResponse.getDefaultInstance());
        response.onCompleted();
      }
    };
    for (Path removed : List.of(registration, dra("this"))) {
      try (PluginSockets sockets = open("this", List.of(answering))) {
        sockets.check().ask();
        Files.delete(removed);
        assertThatThrownBy(() -> sockets.check().ask()).isInstanceOf(StatusRuntimeException.class);
      }
    }
  }

  private PluginSockets open(String pod) throws IOException {
    return open(pod, List.of());
  }

  private PluginSockets open(String pod, List<BindableService> services) throws IOException {
    return PluginSockets.open(root.resolve("r"), root.resolve("p"), Optional.of(pod), services);
  }

  private Path folder() throws IOException {
    return Files.createDirectories(root.resolve("p/gpu.partita.dev"));
  }

  private Path dra(String pod) throws IOException {
    return folder().resolve("dra-" + pod + ".sock");
  }

  /** A socket on which nobody listens. */
  private Path left(String pod) throws IOException {
    Path socket = dra(pod);
    try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.bind(UnixDomainSocketAddress.of(socket));
    }
    return socket;
  }
}
