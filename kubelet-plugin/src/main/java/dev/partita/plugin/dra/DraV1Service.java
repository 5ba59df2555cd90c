package dev.partita.plugin.dra;

import io.grpc.stub.StreamObserver;
import java.util.List;
import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesResponse;

/** kubelet's DRA service, version v1. */
public final class DraV1Service extends DRAPluginGrpc.DRAPluginImplBase {
  private final ClaimService claims;

  public DraV1Service(ClaimService claims) {
    this.claims = claims;
  }

  @Override
  public void nodePrepareResources(
      NodePrepareResourcesRequest request,
      StreamObserver<NodePrepareResourcesResponse> response) {
    NodePrepareResourcesResponse.Builder all = NodePrepareResourcesResponse.newBuilder();
    RequestedClaims requested = requested(request.getClaimsList());
    claims.prepare(requested.claims()).forEach((claim, outcome) -> all.putClaims(claim.uid(), toResponse(outcome)));
    requested.refused().forEach((uid, error) -> all.putClaims(uid, toResponse(new ClaimService.Failed(error))));
    response.onNext(all.build());
    response.onCompleted();
  }

  @Override
  public void nodeUnprepareResources(
      NodeUnprepareResourcesRequest request,
      StreamObserver<NodeUnprepareResourcesResponse> response) {
    NodeUnprepareResourcesResponse.Builder all = NodeUnprepareResourcesResponse.newBuilder();
    RequestedClaims requested = requested(request.getClaimsList());
    claims.unprepare(requested.claims())
        .forEach((claim, error) -> all.putClaims(claim.uid(), toResponse(error.orElse(""))));
    requested.refused().forEach((uid, error) -> all.putClaims(uid, toResponse(error)));
    response.onNext(all.build());
    response.onCompleted();
  }

  private static RequestedClaims requested(List<Claim> claims) {
    RequestedClaims requested = new RequestedClaims();
    claims.forEach(claim -> requested.add(claim.getNamespace(), claim.getName(), claim.getUid()));
    return requested;
  }

  private static NodePrepareResourceResponse toResponse(ClaimService.Outcome outcome) {
    NodePrepareResourceResponse.Builder one = NodePrepareResourceResponse.newBuilder();
    switch (outcome) {
      case ClaimService.Failed failed -> one.setError(failed.error());
      case ClaimService.Ready ready -> ready.devices().forEach(device -> one.addDevices(toDevice(device)));
    }
    return one.build();
  }

  private static NodeUnprepareResourceResponse toResponse(String error) {
    return NodeUnprepareResourceResponse.newBuilder().setError(error).build();
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
