package dev.partita.plugin.registration;

import dev.partita.api.Driver;
import dev.partita.plugin.socket.UnixSocketServer;
import dev.partita.plugin.store.OperationLock;
import io.grpc.BindableService;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin's two sockets: one of the driver's services, and one of the registration, by which kubelet finds the
 * first. The registration's socket is opened last and closed first. Their names contain the pod's UID, so two plugins
 * can run at once, as in a rolling update.
 */
public final class PluginSockets implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PluginSockets.class);

  /** Beside the sockets of the driver's services, held while sockets are opened. */
  static final String LOCK = "sockets.lock";

  private final RegistrationService registration;
  private final UnixSocketServer registrationServer;
  private final UnixSocketServer draServer;

  private PluginSockets(
      RegistrationService registration,
      UnixSocketServer registrationServer,
      UnixSocketServer draServer) {
    this.registration = registration;
    this.registrationServer = registrationServer;
    this.draServer = draServer;
  }

  /**
   * Opens both sockets; sockets of the driver on which nobody listens are removed. Plugins do so one after the other,
   * since between bind(2) and listen(2) a socket refuses connections like one that is left.
   */
  public static PluginSockets open(
      Path registryFolder,
      Path pluginsFolder,
      Optional<String> podUid,
      List<BindableService> services)
      throws IOException {
    String suffix = podUid.map(uid -> "-" + uid).orElse("");
    Path folder = pluginsFolder.resolve(Driver.NAME);
    Files.createDirectories(folder);
    try (OperationLock alone = new OperationLock(folder.resolve(LOCK))) {
      return alone.run(() -> openAlone(registryFolder, folder, suffix, services));
    }
  }

  private static PluginSockets openAlone(
      Path registryFolder,
      Path folder,
      String suffix,
      List<BindableService> services)
      throws IOException {
    Path registrationSocket = registryFolder.resolve(Driver.NAME + suffix + "-reg.sock");
    Path draSocket = folder.resolve("dra" + suffix + ".sock");
    removeDeadSockets(registryFolder, Driver.NAME, "-reg.sock");
    removeDeadSockets(folder, "dra", ".sock");
    UnixSocketServer dra = UnixSocketServer.listen(draSocket, services);
    try {
      RegistrationService registration = new RegistrationService(draSocket);
      UnixSocketServer server = UnixSocketServer.listen(registrationSocket, List.of(registration));
      LOG.info("listening for kubelet on {} (services on {})", registrationSocket, draSocket);
      return new PluginSockets(registration, server, dra);
    } catch (IOException | RuntimeException e) {
      dra.close();
      throw e;
    }
  }

  /** Whether kubelet has said that the plugin is registered. */
  public boolean isRegistered() {
    return registration.isRegistered();
  }

  /** Whether both sockets answer. */
  public SocketCheck check() {
    return new SocketCheck(registrationServer, draServer);
  }

  @Override
  public void close() {
    registrationServer.close();
    draServer.close();
  }

  private static void removeDeadSockets(Path folder, String prefix, String suffix) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String name = String.valueOf(file.getFileName());
        if (name.startsWith(prefix) && name.endsWith(suffix) && isDead(file)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  private static boolean isDead(Path socket) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return !channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      return true;
    }
  }
}
