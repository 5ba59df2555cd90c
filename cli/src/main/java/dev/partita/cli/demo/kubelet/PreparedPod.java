package dev.partita.cli.demo.kubelet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import org.jspecify.annotations.Nullable;

/**
 * A pod whose claims are prepared.
 *
 * @param pod the pod
 * @param devices by the name under which the pod knows the claim
 */
public record PreparedPod(Pod pod, Map<String, List<Device>> devices) {
  public PreparedPod {
    devices = Map.copyOf(devices);
  }

  /** The CDI devices that one of the pod's containers is to be created with. */
  public List<String> cdiDevices(String containerName) {
    Container container =
        pod.getSpec().getContainers().stream().filter(c -> c.getName().equals(containerName)).findFirst().orElseThrow();
    return container.getResources().getClaims().stream()
        .flatMap(use -> devices.getOrDefault(use.getName(), List.of()).stream()
            .filter(device -> isFor(device, use.getRequest())))
        .flatMap(device -> device.getCdiDeviceIdsList().stream())
        .distinct()
        .toList();
  }

  /** A container may name one request of a claim; else it gets all of them. */
  private static boolean isFor(Device device, @Nullable String request) {
    return request == null || device.getRequestNamesCount() == 0 || device.getRequestNamesList().contains(request);
  }
}
