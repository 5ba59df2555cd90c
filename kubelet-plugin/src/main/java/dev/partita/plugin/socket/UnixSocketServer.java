package dev.partita.plugin.socket;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A gRPC server on a unix socket that only its owner can reach. */
public final class UnixSocketServer implements AutoCloseable {
  /** Longest path that fits into sockaddr_un.sun_path with its end (unix(7)). */
  private static final int PATH_BYTES_MAX = 107;

  private final Path socket;
  private final Server server;
  private final EventLoopGroup events;
  private final ExecutorService calls;

  private UnixSocketServer(Path socket, Server server, EventLoopGroup events, ExecutorService calls) {
    this.socket = socket;
    this.server = server;
    this.events = events;
    this.calls = calls;
  }

  /** Listens; a socket that an earlier process has left is replaced. */
  public static UnixSocketServer listen(Path socket, List<BindableService> services) throws IOException {
    if (socket.toString().getBytes(StandardCharsets.UTF_8).length > PATH_BYTES_MAX) {
      throw new IOException(
          "the path of the socket " + socket + " is longer than the " + PATH_BYTES_MAX
              + " bytes that a unix socket may have");
    }
    Files.createDirectories(java.util.Objects.requireNonNull(socket.getParent()));
    Files.deleteIfExists(socket);
    EventLoopGroup events = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    try {
      NettyServerBuilder builder =
          NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
              .channelType(NioServerDomainSocketChannel.class)
              .bossEventLoopGroup(events)
              .workerEventLoopGroup(events)
              .executor(calls);
      services.forEach(builder::addService);
      Server server = builder.build().start();
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
      return new UnixSocketServer(socket, server, events, calls);
    } catch (IOException | RuntimeException e) {
      var _ = events.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      calls.shutdownNow();
      throw e;
    }
  }

  /** A connection to this server, on the thread that it accepts connections with. */
  public UnixChannel connect() {
    return UnixChannel.to(socket, events);
  }

  /** Takes no more calls, lets those under way end within 5 s, and removes the socket. */
  @Override
  public void close() {
    server.shutdown();
    try {
      if (!server.awaitTermination(5, TimeUnit.SECONDS)) {
        server.shutdownNow();
      }
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    }
    var _ = events.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    calls.shutdownNow();
    try {
      Files.deleteIfExists(socket);
    } catch (IOException e) {
      org.slf4j.LoggerFactory.getLogger(UnixSocketServer.class).warn("socket {} cannot be removed: {}", socket,
          e.getMessage());
    }
  }
}
