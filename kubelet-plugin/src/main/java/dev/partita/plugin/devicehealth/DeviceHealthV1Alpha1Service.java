package dev.partita.plugin.devicehealth;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.DRAResourceHealthGrpc;
import k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.DeviceHealth;
import k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.DeviceIdentifier;
import k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.HealthStatus;
import k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.NodeWatchResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.NodeWatchResourcesResponse;

/** kubelet's service for the health of devices, version v1alpha1. */
public final class DeviceHealthV1Alpha1Service extends DRAResourceHealthGrpc.DRAResourceHealthImplBase {
  private final HealthStreams streams;

  public DeviceHealthV1Alpha1Service(HealthStreams streams) {
    this.streams = streams;
  }

  @Override
  public void nodeWatchResources(
      NodeWatchResourcesRequest request,
      StreamObserver<NodeWatchResourcesResponse> response) {
    streams.watch((ServerCallStreamObserver<NodeWatchResourcesResponse>) response,
        DeviceHealthV1Alpha1Service::message);
  }

  private static NodeWatchResourcesResponse message(HealthReport report) {
    NodeWatchResourcesResponse.Builder all = NodeWatchResourcesResponse.newBuilder();
    for (DeviceState device : report.devices()) {
      all.addDevices(
          DeviceHealth.newBuilder()
              .setDevice(DeviceIdentifier.newBuilder().setPoolName(report.pool()).setDeviceName(device.device()))
              .setHealth(status(device))
              .setLastUpdatedTime(report.at().getEpochSecond())
              .setHealthCheckTimeoutSeconds(DeviceHealthWatch.VALID.toSeconds())
              .setMessage(device.message()));
    }
    return all.build();
  }

  private static HealthStatus status(DeviceState device) {
    return switch (device.state()) {
      case HEALTHY, DEGRADED -> HealthStatus.HEALTHY;
      case UNHEALTHY -> HealthStatus.UNHEALTHY;
      case UNKNOWN -> HealthStatus.UNKNOWN;
    };
  }
}
