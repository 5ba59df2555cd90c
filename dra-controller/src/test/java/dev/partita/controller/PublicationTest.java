package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Slices and classes in the cluster. */
class PublicationTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aReadyNodeGetsSlicesAndClasses() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    eventually().until(() -> cluster.slices().size() == 1);
    assertThat(cluster.slices().getFirst().getSpec().getDevices())
        .extracting(d -> d.getName())
        .containsExactly("gpu-0", "gpu-0-shared", "gpu-1", "gpu-1-shared");
    eventually().until(() -> cluster.client.resources(DeviceClass.class).list().getItems().size() == 4);
    assertThat(cluster.client.resources(DeviceClass.class).list().getItems())
        .extracting(c -> c.getMetadata().getName())
        .containsExactlyInAnyOrder("gpu.partita.dev", "whole.gpu.partita.dev", "mig.gpu.partita.dev",
            "h200.gpu.partita.dev");
  }

  @Test
  void deletedSlicesComeBackAndAnUnreadyNodesGo() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    eventually().until(() -> cluster.slices().size() == 1);
    String first = cluster.slices().getFirst().getMetadata().getUid();
    cluster.client.resource(cluster.slices().getFirst()).delete();
    eventually()
        .until(() -> cluster.slices().size() == 1 && !cluster.slices().getFirst().getMetadata().getUid().equals(first));
    GpuNode node = cluster.client.resources(GpuNode.class).withName("node-0").get();
    node.setStatus(GpuNodes.unready("node-0", "no driver").getStatus());
    cluster.client.resource(node).updateStatus();
    eventually().until(() -> cluster.slices().isEmpty());
  }

  @Test
  void slicesWaitForThePluginsPod() {
    String podUid = cluster.pluginPod("False");
    cluster.add(GpuNodes.withPlugin(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB), podUid));
    cluster.start();
    eventually().until(() -> cluster.client.resources(DeviceClass.class).list().getItems().size() == 4);
    assertThat(cluster.slices()).isEmpty();
    cluster.pluginPod("True");
    eventually().until(() -> cluster.slices().size() == 1);
  }

  @Test
  void aClassOfOursThatSomebodyChangedSelectsWhatItDidAgain() {
    cluster.start();
    var share = cluster.client.resources(DeviceClass.class).withName("gpu.partita.dev");
    eventually().until(() -> share.get() != null);
    var selectors = share.get().getSpec().getSelectors();
    share.edit(made -> new DeviceClassBuilder(made).editSpec().withSelectors().endSpec().build());
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB)); // classes are looked at with the cards
    eventually().until(() -> share.get().getSpec().getSelectors().equals(selectors));
  }

  @Test
  void anotherDriversSlicesAndAForeignClassAreNotTouched() {
    cluster.client.resource(GpuNodes.foreignSlice("node-0")).create();
    DeviceClass foreign =
        new DeviceClassBuilder().withNewMetadata().withName("gpu.partita.dev").endMetadata().withNewSpec().endSpec()
            .build();
    cluster.client.resource(foreign).create();
    cluster.start();
    eventually()
        .until(() -> cluster.client.resources(DeviceClass.class).withName("whole.gpu.partita.dev").get() != null);
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    eventually().until(() -> cluster.slices().size() == 2);
    assertThat(cluster.client.resources(DeviceClass.class).withName("gpu.partita.dev").get().getSpec().getSelectors())
        .isEmpty();
    assertThat(cluster.slices()).anySatisfy(s -> assertThat(s.getSpec().getDriver()).isEqualTo("nic.example.com"));
  }
}
