package dev.partita.plugin.dra;

import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesResponse;
import io.grpc.stub.StreamObserver;

/** kubelet's DRA service, version v1. */
public final class DraV1Service extends DRAPluginGrpc.DRAPluginImplBase {
  private final ClaimService claims;

  public DraV1Service(ClaimService claims) {
    this.claims = claims;
  }

  @Override
  public void nodePrepareResources(
      NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> response) {
    NodePrepareResourcesResponse.Builder all = NodePrepareResourcesResponse.newBuilder();
    for (Claim claim : request.getClaimsList()) {
      NodePrepareResourceResponse.Builder one = NodePrepareResourceResponse.newBuilder();
      switch (claims.prepare(claim.getNamespace(), claim.getName(), claim.getUid())) {
        case ClaimService.Failed failed -> one.setError(failed.error());
        case ClaimService.Ready ready -> ready.devices().forEach(device -> one.addDevices(toDevice(device)));
      }
      all.putClaims(claim.getUid(), one.build());
    }
    response.onNext(all.build());
    response.onCompleted();
  }

  @Override
  public void nodeUnprepareResources(
      NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> response) {
    NodeUnprepareResourcesResponse.Builder all = NodeUnprepareResourcesResponse.newBuilder();
    for (Claim claim : request.getClaimsList()) {
      String error = claims.unprepare(claim.getNamespace(), claim.getName(), claim.getUid()).orElse("");
      all.putClaims(claim.getUid(), NodeUnprepareResourceResponse.newBuilder().setError(error).build());
    }
    response.onNext(all.build());
    response.onCompleted();
  }

  private static Device toDevice(ClaimService.ReadyDevice ready) {
    Device.Builder device =
        Device.newBuilder()
            .addAllRequestNames(ready.requests())
            .setPoolName(ready.pool())
            .setDeviceName(ready.device())
            .addAllCdiDeviceIds(ready.cdiIds());
    ready.shareId().ifPresent(device::setShareId);
    return device.build();
  }
}
