package dev.partita.plugin.registration;

import dev.partita.api.Driver;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.List;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.InfoRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.PluginInfo;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationGrpc;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationStatus;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationStatusResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells kubelet which driver this is and where its services listen. */
final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {
  /** As kubelet knows them; of the versions of one service it takes the first that it has. */
  static final List<String> VERSIONS =
      List.of("v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth");

  private static final Logger LOG = LoggerFactory.getLogger(RegistrationService.class);

  private final Path endpoint;
  private volatile boolean registered;

  RegistrationService(Path endpoint) {
    this.endpoint = endpoint;
  }

  boolean isRegistered() {
    return registered;
  }

  @Override
  public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
    response.onNext(
        PluginInfo.newBuilder()
            .setType("DRAPlugin")
            .setName(Driver.NAME)
            .setEndpoint(endpoint.toString())
            .addAllSupportedVersions(VERSIONS)
            .build());
    response.onCompleted();
  }

  @Override
  public void notifyRegistrationStatus(
      RegistrationStatus status,
      StreamObserver<RegistrationStatusResponse> response) {
    registered = status.getPluginRegistered();
    if (registered) {
      LOG.info("registered with kubelet as {}", Driver.NAME);
    } else {
      LOG.error("kubelet refused the registration of {}: {}", Driver.NAME, status.getError());
    }
    response.onNext(RegistrationStatusResponse.getDefaultInstance());
    response.onCompleted();
  }
}
