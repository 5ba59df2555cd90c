package dev.partita.plugin.socket;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A gRPC client's connection to a Unix socket, such as kubelet has to its plugins. */
public final class UnixChannel implements AutoCloseable {
  private static final long CLOSE_SECONDS = 2;

  /** kubelet's own clients allow as much: k8s.io/kubelet, podresources, 16 MiB. */
  private static final int MOST_BYTES = 16 << 20;

  private final ManagedChannel channel;
  private final Runnable afterClose;

  private UnixChannel(Path socket, EventLoopGroup threads, Runnable afterClose) {
    this.channel = NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket)).eventLoopGroup(threads)
        .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class).overrideAuthority("localhost")
        .maxInboundMessageSize(MOST_BYTES).usePlaintext().build();
    this.afterClose = afterClose;
  }

  /** Has a thread of its own. */
  public static UnixChannel to(Path socket) {
    EventLoopGroup threads =
        new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("unix-channel", true), NioIoHandler.newFactory());
    return new UnixChannel(socket, threads, () -> {
      var _ = threads.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
    });
  }

  /** Runs on somebody else's threads. */
  static UnixChannel to(Path socket, EventLoopGroup threads) {
    return new UnixChannel(socket, threads, () -> {});
  }

  public ManagedChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    channel.shutdownNow();
    afterClose.run();
  }
}
