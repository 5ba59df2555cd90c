package dev.partita.plugin.registration;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;

/**
 * Calls the driver's own socket as kubelet does, with no claims. An answer shows that the socket is in its place, that
 * it accepts connections, and that calls are carried out.
 */
public final class SocketCheck {
  private static final int PATIENCE_SECONDS = 10;

  private final Path socket;
  private final EventLoopGroup events;

  SocketCheck(Path socket, EventLoopGroup events) {
    this.socket = socket;
    this.events = events;
  }

  /**
   * Asks by a connection of its own, as a kubelet that has been started anew would. Throws StatusRuntimeException
   * without an answer.
   */
  public void ask() {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
            .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
            .eventLoopGroup(events)
            .overrideAuthority("localhost")
            .usePlaintext()
            .build();
    try {
      var _ =
          DRAPluginGrpc.newBlockingStub(channel)
              .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              .nodeUnprepareResources(NodeUnprepareResourcesRequest.getDefaultInstance());
    } finally {
      channel.shutdownNow();
    }
  }
}
