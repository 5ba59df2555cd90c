package dev.partita.plugin;

import dev.partita.plugin.socket.UnixSocketServer;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import k8s.io.kubelet.pkg.apis.podresources.v1.AllocatableResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.AllocatableResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.ContainerDevices;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResourcesListerGrpc;

/** Plays kubelet's PodResources socket; what it answers can be changed. */
final class PodResourcesOfTest extends PodResourcesListerGrpc.PodResourcesListerImplBase implements AutoCloseable {
  private final UnixSocketServer server;
  private volatile ListPodResourcesResponse answer = ListPodResourcesResponse.getDefaultInstance();
  private volatile AllocatableResourcesResponse offered = AllocatableResourcesResponse.getDefaultInstance();

  PodResourcesOfTest(Path socket) throws IOException {
    server = UnixSocketServer.listen(socket, List.of(this));
  }

  void answer(ListPodResourcesResponse next) {
    answer = next;
  }

  /** Has another device plugin offer these. */
  void offer(String resource, List<String> ids) {
    offered = AllocatableResourcesResponse.newBuilder()
        .addDevices(ContainerDevices.newBuilder().setResourceName(resource).addAllDeviceIds(ids)).build();
  }

  @Override
  public void getAllocatableResources(
      AllocatableResourcesRequest request,
      StreamObserver<AllocatableResourcesResponse> observer) {
    observer.onNext(offered);
    observer.onCompleted();
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
