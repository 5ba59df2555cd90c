package dev.partita.plugin.devicehealth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.diagnosis.CardState;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import k8s.io.kubelet.pkg.apis.dra_health.v1.DRAResourceHealthGrpc;
import k8s.io.kubelet.pkg.apis.dra_health.v1.NodeWatchResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra_health.v1.NodeWatchResourcesResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HealthStreamsTest {
  private final HealthStreams streams = new HealthStreams();

  @SuppressWarnings("NullAway.Init") // set before each test
  private Server server;

  @SuppressWarnings("NullAway.Init") // set before each test
  private ManagedChannel channel;

  @BeforeEach
  void serve() throws Exception {
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new DeviceHealthV1Service(streams)).build().start();
    channel = NettyChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
  }

  @AfterEach
  void end() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  @Test
  void whoComesLaterIsToldTheNewestAtOnceAndAllAreToldWhatFollows() {
    Watcher first = watch();
    await().until(() -> streams.count() == 1);
    streams.send(report("one"));
    Watcher second = watch();
    first.awaitLast("one");
    second.awaitLast("one");
    streams.send(report("two"));
    first.awaitLast("two");
    second.awaitLast("two");
    assertThat(second.messages).containsExactly("one", "two");
  }

  @Test
  void aStreamThatIsBrokenOffCostsNothing() {
    List<Watcher> watchers = IntStream.range(0, 5).mapToObj(i -> watch()).toList();
    await().until(() -> streams.count() == 5);
    watchers.forEach(watcher -> watcher.call().cancel("enough", null));
    await().until(() -> streams.count() == 0);
    streams.send(report("nobody hears it"));
  }

  @Test
  void aClientThatDoesNotReadIsKeptOneReportAndReadsTheNewestInTheEnd() {
    Watcher slow = new Watcher(false);
    DRAResourceHealthGrpc.newStub(channel).nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance(), slow);
    await().until(() -> streams.count() == 1);
    int reports = 2_000;
    IntStream.range(0, reports).forEach(i -> streams.send(report("x".repeat(1_000) + i)));
    slow.call().request(Integer.MAX_VALUE);
    slow.awaitLast("x".repeat(1_000) + (reports - 1));
    assertThat(slow.messages).hasSizeLessThan(reports / 2);
  }

  @Test
  void theOldestStreamEndsWhenThereAreTooMany() {
    Watcher oldest = watch();
    await().until(() -> streams.count() == 1);
    for (int i = 1; i <= HealthStreams.MOST_STREAMS; i++) {
      watch();
    }
    oldest.awaitEnd(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(streams.count()).isEqualTo(HealthStreams.MOST_STREAMS);
  }

  @Test
  void streamsEndWhenThePluginStopsAndFurtherOnesAreRefused() {
    Watcher watcher = watch();
    await().until(() -> streams.count() == 1);
    streams.close();
    watcher.awaitEnd(Status.Code.UNAVAILABLE);
    watch().awaitEnd(Status.Code.UNAVAILABLE);
    assertThat(streams.count()).isZero();
  }

  private Watcher watch() {
    Watcher watcher = new Watcher(true);
    DRAResourceHealthGrpc.newStub(channel).nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance(), watcher);
    return watcher;
  }

  private static HealthReport report(String message) {
    return new HealthReport(
        Instant.EPOCH, "node/gpu", List.of(new DeviceState("gpu-0", CardState.UNHEALTHY, message)));
  }

  private static final class Watcher
      implements ClientResponseObserver<NodeWatchResourcesRequest, NodeWatchResourcesResponse> {
    final List<String> messages = new CopyOnWriteArrayList<>();
    private final boolean reads;
    private final AtomicReference<@Nullable ClientCallStreamObserver<NodeWatchResourcesRequest>> call =
        new AtomicReference<>();
    private final AtomicReference<Status.@Nullable Code> end = new AtomicReference<>();

    Watcher(boolean reads) {
      this.reads = reads;
    }

    ClientCallStreamObserver<NodeWatchResourcesRequest> call() {
      return java.util.Objects.requireNonNull(call.get());
    }

    void awaitLast(String message) {
      await().until(() -> !messages.isEmpty() && messages.getLast().equals(message));
    }

    void awaitEnd(Status.Code code) {
      await().until(() -> end.get() == code);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<NodeWatchResourcesRequest> stream) {
      call.set(stream);
      if (!reads) {
        stream.disableAutoRequestWithInitial(0);
      }
    }

    @Override
    public void onNext(NodeWatchResourcesResponse response) {
      messages.add(response.getDevices(0).getMessage());
    }

    @Override
    public void onError(Throwable failure) {
      end.set(Status.fromThrowable(failure).getCode());
    }

    @Override
    public void onCompleted() {
      end.set(Status.Code.OK);
    }
  }
}
