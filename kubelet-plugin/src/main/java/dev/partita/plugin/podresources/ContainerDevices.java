package dev.partita.plugin.podresources;

import dev.partita.api.Driver;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import k8s.io.kubelet.pkg.apis.podresources.v1.CDIDevice;
import k8s.io.kubelet.pkg.apis.podresources.v1.ClaimResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ContainerResources;
import k8s.io.kubelet.pkg.apis.podresources.v1.DynamicResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResources;

/** Asks kubelet which containers have which of this driver's devices (KEP-3695). */
public final class ContainerDevices {
  private final PodResourcesClient kubelet;

  /** @param socket kubelet's, such as /var/lib/kubelet/pod-resources/kubelet.sock */
  public ContainerDevices(Path socket) {
    this(socket, "metrics have no names of pods and containers");
  }

  /** @param withoutAnswer what it means that kubelet does not answer, for the log */
  ContainerDevices(Path socket, String withoutAnswer) {
    this.kubelet = new PodResourcesClient(socket, withoutAnswer);
  }

  /**
   * Asks now.
   *
   * @return the containers by CDI id of a device of this driver; none where kubelet does not answer within a second
   */
  public Map<String, List<ContainerRef>> byCdiId() {
    return ask().orElse(Map.of());
  }

  /** The same; empty where kubelet does not answer within a second. */
  Optional<Map<String, List<ContainerRef>>> ask() {
    return kubelet.ask(stub -> stub.list(ListPodResourcesRequest.getDefaultInstance())).map(ContainerDevices::read);
  }

  static Map<String, List<ContainerRef>> read(ListPodResourcesResponse answer) {
    Map<String, List<ContainerRef>> containers = new TreeMap<>();
    for (PodResources pod : answer.getPodResourcesList()) {
      for (ContainerResources container : pod.getContainersList()) {
        ContainerRef ref = new ContainerRef(pod.getNamespace(), pod.getName(), container.getName());
        for (DynamicResource claim : container.getDynamicResourcesList()) {
          claim.getClaimResourcesList().stream()
              .filter(device -> device.getDriverName().equals(Driver.NAME))
              .map(ClaimResource::getCdiDevicesList).flatMap(List::stream).map(CDIDevice::getName)
              .forEach(id -> containers.merge(id, List.of(ref), ContainerDevices::joined));
        }
      }
    }
    return containers;
  }

  private static List<ContainerRef> joined(List<ContainerRef> some, List<ContainerRef> more) {
    return java.util.stream.Stream.concat(some.stream(), more.stream()).distinct().toList();
  }
}
