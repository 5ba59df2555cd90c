package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Claims with adminAccess: they look at devices and take nothing. */
class AdminAccessTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  private void namespaceAllows(boolean yes) {
    cluster.client
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName("default")
                .withLabels(yes ? Map.of("resource.kubernetes.io/admin-access", "true") : Map.of())
                .endMetadata()
                .build())
        .createOr(existing -> existing.update());
  }

  private void monitor(String name, String className) {
    cluster.claim(new ClaimForm(name, className).asAdmin());
  }

  private List<DeviceRequestAllocationResult> results(String claim) {
    cluster.result(claim);
    return cluster.read(claim).getStatus().getAllocation().getDevices().getResults();
  }

  @Test
  void whatIsTakenIsSeenAndStaysTakenAndWhatIsSeenCanBeTaken() {
    namespaceAllows(true);
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("user", "whole.gpu.partita.dev", Map.of());
    cluster.pod("user", "user");
    cluster.result("user");
    monitor("first", "whole.gpu.partita.dev");
    cluster.pod("first", "first");
    monitor("second", "gpu.partita.dev");
    cluster.pod("second", "second");
    assertThat(results("first"))
        .allSatisfy(
            result -> {
              assertThat(result.getAdminAccess()).isTrue();
              assertThat(result.getShareID()).isNull();
              assertThat(result.getConsumedCapacity()).isNullOrEmpty();
            })
        .extracting(DeviceRequestAllocationResult::getDevice)
        .containsExactlyInAnyOrder("gpu-0", "gpu-1");
    assertThat(results("second")).extracting(DeviceRequestAllocationResult::getDevice)
        .containsExactlyInAnyOrder("gpu-0-shared", "gpu-1-shared");
    assertThat(cluster.note("first", "Allocated")).contains("gpu-1 on node-0: admin access to NVIDIA H200");
    assertThat(cluster.read("first").getMetadata().getFinalizers())
        .contains("resource.kubernetes.io/delete-protection");
    cluster.claim("later", "whole.gpu.partita.dev", Map.of());
    cluster.pod("later", "later");
    assertThat(cluster.result("later").getDevice()).isNotEqualTo(cluster.result("user").getDevice());
  }

  @Test
  void withoutTheNamespacesLabelItIsRefusedUntilTheLabelComes() {
    namespaceAllows(false);
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    monitor("m", "whole.gpu.partita.dev");
    cluster.pod("m", "m");
    eventually().untilAsserted(() -> assertThat(cluster.note("m", "Unallocatable")) // once its class is there
        .contains("resource.kubernetes.io/admin-access=true"));
    assertThat(cluster.isAllocated("m")).isFalse();
    namespaceAllows(true);
    assertThat(results("m")).hasSize(1);
  }

  @Test
  void whenKubeSchedulerTakesItBackAnotherNodeIsTried() {
    namespaceAllows(true);
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    monitor("m", "whole.gpu.partita.dev");
    cluster.pod("m", "m");
    String first = cluster.result("m").getPool();
    cluster.deallocate("m");
    eventually().until(() -> cluster.isAllocated("m") && !cluster.result("m").getPool().equals(first));
  }
}
