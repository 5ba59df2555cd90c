package dev.partita.cli.demo.kubelet;

import dev.partita.cli.command.Waiting;
import dev.partita.plugin.socket.UnixChannel;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.dra.v1.Claim;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourceResponse;
import k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.InfoRequest;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.PluginInfo;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationGrpc;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.RegistrationStatus;

/** The part of kubelet that DRA drivers see: it finds their sockets, and has claims prepared and unprepared. */
public final class Kubelet implements AutoCloseable {
  /** kubelet's own limits (pluginwatcher and DRA manager, 1.36). */
  private static final long GET_INFO_SECONDS = 1;

  private static final long PREPARE_SECONDS = 45;
  private static final String DRA_PLUGIN = "DRAPlugin";
  private static final String DRA_V1 = "v1.DRAPlugin";

  private final Path registryFolder;
  private final Map<String, Registered> drivers = new ConcurrentHashMap<>();

  /** A registered driver. */
  private record Registered(Path registrationSocket, UnixChannel connection) {}

  /**
   * @param registryFolder where drivers put their registration sockets
   */
  public Kubelet(Path registryFolder) {
    this.registryFolder = registryFolder;
  }

  /**
   * Waits for a driver's registration socket and registers the driver.
   *
   * @return the socket on which the driver serves DRA; empty if it did not come
   */
  public Optional<Path> register(String driver, Duration timeout) throws Exception {
    return Waiting.forAnswer(timeout, () -> tryToRegister(driver));
  }

  private Optional<Path> tryToRegister(String driver) throws IOException {
    if (!Files.isDirectory(registryFolder)) {
      return Optional.empty();
    }
    List<Path> sockets;
    try (Stream<Path> files = Files.list(registryFolder)) {
      sockets = files.filter(file -> file.toString().endsWith(".sock")).toList();
    }
    for (Path socket : sockets) {
      Optional<Path> endpoint = tryToRegister(driver, socket);
      if (endpoint.isPresent()) {
        return endpoint;
      }
    }
    return Optional.empty();
  }

  private Optional<Path> tryToRegister(String driver, Path socket) {
    try (UnixChannel connection = UnixChannel.to(socket)) {
      var registration =
          RegistrationGrpc.newBlockingStub(connection.channel()).withDeadlineAfter(GET_INFO_SECONDS, TimeUnit.SECONDS);
      PluginInfo plugin = registration.getInfo(InfoRequest.getDefaultInstance());
      if (!plugin.getType().equals(DRA_PLUGIN) || !plugin.getName().equals(driver)) {
        return Optional.empty();
      }
      boolean known = plugin.getSupportedVersionsList().contains(DRA_V1);
      Path endpoint = Path.of(plugin.getEndpoint());
      if (known) {
        drivers.put(driver, new Registered(socket, UnixChannel.to(endpoint)));
      }
      RegistrationStatus status =
          RegistrationStatus.newBuilder().setPluginRegistered(known)
              .setError(known ? "" : "none of its versions is known").build();
      RegistrationGrpc.newBlockingStub(connection.channel())
          .withDeadlineAfter(GET_INFO_SECONDS, TimeUnit.SECONDS)
          .notifyRegistrationStatus(status);
      return known ? Optional.of(endpoint) : Optional.empty();
    } catch (StatusRuntimeException e) {
      return Optional.empty(); // it is there but does not answer yet: kubelet comes back
    }
  }

  /** The socket through which a driver registered. */
  public Optional<Path> registrationSocket(String driver) {
    return Optional.ofNullable(drivers.get(driver)).map(Registered::registrationSocket);
  }

  /**
   * Has a driver prepare the claims of a pod that was bound to this node.
   *
   * @return the prepared devices of each claim, in the order of the claims
   * @throws IOException if a claim is not this pod's to use yet, or with the driver's error
   */
  public PreparedPod prepare(String driver, Pod pod, Map<String, ResourceClaim> claims) throws IOException {
    for (ResourceClaim claim : claims.values()) {
      requireReserved(pod, claim);
    }
    var request = NodePrepareResourcesRequest.newBuilder();
    claims.values().forEach(claim -> request.addClaims(reference(claim)));
    var response = stub(driver).nodePrepareResources(request.build()).getClaimsMap();
    Map<String, List<Device>> devices = new HashMap<>();
    for (Map.Entry<String, ResourceClaim> claim : claims.entrySet()) {
      NodePrepareResourceResponse answer = response.get(claim.getValue().getMetadata().getUid());
      if (answer == null || !answer.getError().isEmpty()) {
        throw failed(claim.getValue(), answer == null ? "the driver gave no answer for it" : answer.getError());
      }
      devices.put(claim.getKey(), answer.getDevicesList());
    }
    return new PreparedPod(pod, devices);
  }

  /**
   * Has a driver take back what it prepared for claims whose last pod is done.
   *
   * @throws IOException with the driver's error
   */
  public void unprepare(String driver, List<ResourceClaim> claims) throws IOException {
    var request = NodeUnprepareResourcesRequest.newBuilder();
    claims.forEach(claim -> request.addClaims(reference(claim)));
    var response = stub(driver).nodeUnprepareResources(request.build()).getClaimsMap();
    for (ResourceClaim claim : claims) {
      NodeUnprepareResourceResponse answer = response.get(claim.getMetadata().getUid());
      if (answer == null || !answer.getError().isEmpty()) {
        throw failed(claim, answer == null ? "the driver gave no answer for it" : answer.getError());
      }
    }
  }

  private DRAPluginGrpc.DRAPluginBlockingStub stub(String driver) throws IOException {
    Registered registered = drivers.get(driver);
    if (registered == null) {
      throw new IOException("DRA driver " + driver + " is not registered on this node");
    }
    return DRAPluginGrpc.newBlockingStub(registered.connection().channel()).withDeadlineAfter(PREPARE_SECONDS,
        TimeUnit.SECONDS);
  }

  private static Claim reference(ResourceClaim claim) {
    return Claim.newBuilder()
        .setNamespace(claim.getMetadata().getNamespace())
        .setName(claim.getMetadata().getName())
        .setUid(claim.getMetadata().getUid())
        .build();
  }

  private static void requireReserved(Pod pod, ResourceClaim claim) throws IOException {
    boolean reserved =
        claim.getStatus() != null
            && claim.getStatus().getAllocation() != null
            && claim.getStatus().getReservedFor().stream()
                .anyMatch(user -> user.getUid().equals(pod.getMetadata().getUid()));
    if (!reserved) {
      throw failed(claim, "it is not reserved for pod " + pod.getMetadata().getName());
    }
  }

  private static IOException failed(ResourceClaim claim, String error) {
    return new IOException(
        "claim " + claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName() + ": " + error);
  }

  @Override
  public void close() {
    for (Registered driver : drivers.values()) {
      driver.connection().close();
    }
    drivers.clear();
  }
}
