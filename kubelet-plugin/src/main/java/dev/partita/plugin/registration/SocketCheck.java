package dev.partita.plugin.registration;

import dev.partita.plugin.socket.UnixChannel;
import dev.partita.plugin.socket.UnixSocketServer;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;

/**
 * Calls the driver's own socket as kubelet does, with no claims. An answer shows that the socket is in its place, that
 * it accepts connections, and that calls are carried out.
 */
public final class SocketCheck {
  private static final int PATIENCE_SECONDS = 10;

  private final UnixSocketServer server;

  SocketCheck(UnixSocketServer server) {
    this.server = server;
  }

  /**
   * Asks by a connection of its own, as a kubelet that has been started anew would. Throws StatusRuntimeException
   * without an answer.
   */
  public void ask() {
    try (UnixChannel connection = server.connect()) {
      var _ =
          DRAPluginGrpc.newBlockingStub(connection.channel())
              .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              .nodeUnprepareResources(NodeUnprepareResourcesRequest.getDefaultInstance());
    }
  }
}
