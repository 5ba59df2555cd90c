package dev.partita.cli.demo.kubelet;

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

/** A gRPC connection to a unix socket. */
final class UnixChannel implements AutoCloseable {
  private static final long CLOSE_SECONDS = 2;

  private final EventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("kubelet-grpc", true), NioIoHandler.newFactory());
  private final ManagedChannel channel;

  UnixChannel(Path socket) {
    channel =
        NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
            .eventLoopGroup(threads)
            .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
            .overrideAuthority("localhost")
            .usePlaintext()
            .build();
  }

  ManagedChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    channel.shutdownNow();
    var _ = threads.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
