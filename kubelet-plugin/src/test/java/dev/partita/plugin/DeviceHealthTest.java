package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.dra_health.v1.DRAResourceHealthGrpc;
import k8s.io.kubelet.pkg.apis.dra_health.v1.DeviceHealth;
import k8s.io.kubelet.pkg.apis.dra_health.v1.HealthStatus;
import k8s.io.kubelet.pkg.apis.dra_health.v1.NodeWatchResourcesRequest;
import org.junit.jupiter.api.Test;

/** What kubelet hears of the health of devices. */
@MockApiServer(crud = true)
class DeviceHealthTest {
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void kubeletHearsOfAllDevicesAtOnceAndOfAFatalXidWhenItComes() throws Exception {
    try (TestNode node = TestNode.withCards("node-h", "h200x2");
        KubeletPlugin _ = TestNode.start(node.settings("--inventory-period=3600"), client)) {
      new TestApi(client).statusWhen("node-h", s -> s.isReady());
      TestNode.call(
          node.draSocket(),
          channel -> {
            var reports =
                DRAResourceHealthGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance());
            List<DeviceHealth> first = reports.next().getDevicesList();
            assertThat(first).extracting(device -> device.getDevice().getDeviceName())
                .containsExactly("gpu-0", "gpu-0-shared", "gpu-1", "gpu-1-shared");
            assertThat(first).allSatisfy(
                device -> {
                  assertThat(device.getDevice().getPoolName()).isEqualTo("node-h/gpu");
                  assertThat(device.getHealth()).isEqualTo(HealthStatus.HEALTHY);
                  assertThat(Instant.ofEpochSecond(device.getLastUpdatedTime()))
                      .isBetween(Instant.now().minusSeconds(20), Instant.now());
                  assertThat(device.getHealthCheckTimeoutSeconds()).isEqualTo(30);
                });
            simulator(node, "xid", "--gpu", "1", "--xid", "95");
            List<DeviceHealth> afterXid = awaitHealth(reports, "gpu-1-shared", HealthStatus.UNHEALTHY);
            assertThat(afterXid).as("a complete list").hasSize(4);
            assertThat(afterXid.get(1).getHealth()).isEqualTo(HealthStatus.HEALTHY);
            assertThat(afterXid.get(3).getMessage()).contains("XID 95");
            return true;
          });
    }
  }

  @Test
  void reportsGoOnWhileNothingChangesSoThatTheyAreNeverTooOldForKubelet() throws Exception {
    try (TestNode node = TestNode.withCards("node-i", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      TestNode.call(
          node.draSocket(),
          channel -> {
            var reports =
                k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.DRAResourceHealthGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .nodeWatchResources(
                        k8s.io.kubelet.pkg.apis.dra_health.v1alpha1.NodeWatchResourcesRequest.getDefaultInstance());
            long first = reports.next().getDevices(0).getLastUpdatedTime();
            long second = reports.next().getDevices(0).getLastUpdatedTime();
            assertThat(second - first).isBetween(1L, 20L);
            return true;
          });
    }
  }

  @Test
  void anOpenStreamDoesNotKeepThePluginFromStopping() throws Exception {
    try (TestNode node = TestNode.withCards("node-j", "t4x1")) {
      KubeletPlugin plugin = node.start(client);
      TestNode.call(
          node.draSocket(),
          channel -> {
            var reports =
                DRAResourceHealthGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance());
            reports.next();
            plugin.close();
            assertThatThrownBy(() -> reports.forEachRemaining(_ -> {}))
                .as("the server did not have to end it").hasMessage("UNAVAILABLE: the plugin is stopping");
            return true;
          });
    }
  }

  private static List<DeviceHealth> awaitHealth(
      Iterator<k8s.io.kubelet.pkg.apis.dra_health.v1.NodeWatchResourcesResponse> reports,
      String device,
      HealthStatus health) {
    while (true) { // the call has a deadline
      List<DeviceHealth> devices = reports.next().getDevicesList();
      if (devices.stream().anyMatch(
          one -> one.getDevice().getDeviceName().equals(device) && one.getHealth() == health)) {
        return devices;
      }
    }
  }

  private static void simulator(TestNode node, String verb, String... arguments) {
    List<String> command = new java.util.ArrayList<>(List.of(verb, "--root", node.driverRoot().toString()));
    command.addAll(List.of(arguments));
    try {
      node.simulator(command.toArray(String[]::new));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
