package dev.partita.plugin;

import dev.partita.plugin.registration.UnixSocketServer;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResourcesListerGrpc;

/** Plays kubelet's PodResources socket; what it answers can be changed. */
final class PodResourcesOfTest extends PodResourcesListerGrpc.PodResourcesListerImplBase implements AutoCloseable {
  private final UnixSocketServer server;
  private volatile ListPodResourcesResponse answer = ListPodResourcesResponse.getDefaultInstance();

  PodResourcesOfTest(Path socket) throws IOException {
    server = UnixSocketServer.listen(socket, List.of(this));
  }

  void answer(ListPodResourcesResponse next) {
    answer = next;
  }

  @Override
  public void list(ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
    observer.onNext(answer);
    observer.onCompleted();
  }

  @Override
  public void close() {
    server.close();
  }
}
