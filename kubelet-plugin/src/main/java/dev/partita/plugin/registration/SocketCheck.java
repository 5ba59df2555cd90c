package dev.partita.plugin.registration;

import dev.partita.plugin.socket.UnixChannel;
import dev.partita.plugin.socket.UnixSocketServer;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.InfoRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationGrpc;

/**
 * Calls the plugin's own sockets as kubelet does, the driver's with no claims. An answer shows that the socket is in
 * its place, that it accepts connections, and that calls are carried out. Kubelet forgets a driver whose registration
 * socket is removed, and says so to nobody but its log.
 */
public final class SocketCheck {
  private static final int PATIENCE_SECONDS = 10;

  private final UnixSocketServer registration;
  private final UnixSocketServer dra;

  SocketCheck(UnixSocketServer registration, UnixSocketServer dra) {
    this.registration = registration;
    this.dra = dra;
  }

  /**
   * Asks each by a connection of its own, as a kubelet that has been started anew would. Throws StatusRuntimeException
   * without an answer.
   */
  public void ask() {
    try (UnixChannel connection = registration.connect()) {
      var _ =
          RegistrationGrpc.newBlockingStub(connection.channel())
              .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              .getInfo(InfoRequest.getDefaultInstance());
    }
    try (UnixChannel connection = dra.connect()) {
      var _ =
          DRAPluginGrpc.newBlockingStub(connection.channel())
              .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              .nodeUnprepareResources(NodeUnprepareResourcesRequest.getDefaultInstance());
    }
  }
}
