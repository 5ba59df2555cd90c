package dev.partita.cli.demo.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ResourceClaim;
import java.util.List;
import java.util.Map;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import org.junit.jupiter.api.Test;

class PreparedPodTest {
  private static final Map<String, List<Device>> DEVICES =
      Map.of(
          "pair",
          List.of(device("left", "example.com/claim=left"), device("right", "example.com/claim=right")),
          "single",
          List.of(device("one", "example.com/claim=one")));

  private static Device device(String request, String cdiId) {
    return Device.newBuilder().addRequestNames(request).addCdiDeviceIds(cdiId).build();
  }

  private static Pod pod(ResourceClaim... uses) {
    return new PodBuilder()
        .withNewSpec()
        .addToContainers(
            new ContainerBuilder().withName("main").withNewResources().withClaims(uses).endResources().build(),
            new ContainerBuilder().withName("sidecar").withNewResources().endResources().build())
        .endSpec()
        .build();
  }

  @Test
  void aContainerGetsTheDevicesOfTheClaimsThatItNames() {
    PreparedPod prepared = new PreparedPod(pod(new ResourceClaim("pair", null)), DEVICES);

    assertThat(prepared.cdiDevices("main")).containsExactly("example.com/claim=left", "example.com/claim=right");
    assertThat(prepared.cdiDevices("sidecar")).isEmpty();
  }

  @Test
  void aContainerThatNamesOneRequestGetsOnlyThat() {
    PreparedPod prepared =
        new PreparedPod(pod(new ResourceClaim("pair", "right"), new ResourceClaim("single", null)), DEVICES);

    assertThat(prepared.cdiDevices("main")).containsExactly("example.com/claim=right", "example.com/claim=one");
  }
}
