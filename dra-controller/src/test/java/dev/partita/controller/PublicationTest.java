package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.node.BindingClaim;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import java.util.List;
import java.util.Objects;
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
  void aNodeIsToldOfClaimsWhosePodsWaitForItsInstancesAsLongAsTheseAreAllocated() {
    cluster.add(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, GpuNodes.migCards("node-0", 1)));
    cluster.start();
    ResourceClaim claim = new ResourceClaimBuilder().withNewMetadata().withNamespace("default").withName("claim")
        .endMetadata().withNewSpec().endSpec().withNewStatus().withNewAllocation()
        .withAllocationTimestamp("2026-01-01T00:00:00Z").withNewDevices()
        .withResults(new DeviceRequestAllocationResultBuilder().withRequest("gpu").withDriver("gpu.partita.dev")
            .withPool("node-0/gpu").withDevice("gpu-0-mig-1g-18gb-0").withBindingConditions("InstanceMade").build())
        .endDevices().endAllocation().addNewReservedFor(null, "pod", "pods", "pod").endStatus().build();
    ResourceClaim made = cluster.client.resource(claim).create();
    eventually().until(() -> bindingClaims().equals(List.of(
        new BindingClaim("default", "claim", made.getMetadata().getUid(), "2026-01-01T00:00:00Z"))));
    cluster.awaitQuiet(); // so that nothing else has the node looked at
    // the watch need not have shown that it had none in between
    cluster.client.resource(new ResourceClaimBuilder(made).editStatus().editAllocation()
        .withAllocationTimestamp("2026-01-01T00:00:01Z").endAllocation().endStatus().build()).updateStatus();
    eventually().until(() -> bindingClaims().equals(List.of(
        new BindingClaim("default", "claim", made.getMetadata().getUid(), "2026-01-01T00:00:01Z"))));
    cluster.client.resource(made).delete();
    eventually().until(() -> bindingClaims().isEmpty());
  }

  private List<BindingClaim> bindingClaims() {
    return cluster.client.resources(GpuNode.class).withName("node-0").get().getStatus().bindingClaims();
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

  /** kubelet deletes the slices of a plugin that is gone one after the other. */
  @Test
  void aPoolOfWhichAPartIsGoneWaitsForThePluginsPod() {
    String podUid = cluster.pluginPod("False");
    GpuNode node = GpuNodes.withPlugin(GpuNodes.ready("node-0", 40, "NVIDIA H200", 140 * GpuNodes.GIB), podUid);
    GpuHost host = Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
    ResourceSliceSpec first = SlicePlan.of(host).getFirst();
    assertThat(first.getPool().getResourceSliceCount()).isEqualTo(2);
    cluster.client.resource(new ResourceSliceBuilder().withNewMetadata().withName("node-0-gpu.partita.dev-0")
        .endMetadata().withSpec(first).editSpec().editPool().withGeneration(1L).endPool().endSpec().build()).create();
    cluster.add(node);
    cluster.start();
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB)); // is looked at after the other one
    eventually().until(() -> slicesOf("node-1") == 1);
    assertThat(slicesOf("node-0")).isEqualTo(1);
    cluster.pluginPod("True");
    eventually().until(() -> slicesOf("node-0") == 2);
  }

  private long slicesOf(String node) {
    return cluster.slices().stream().filter(slice -> node.equals(slice.getSpec().getNodeName())).count();
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
  void aClassThatIsRefusedKeepsNoOtherFromBeingMade() {
    cluster.client.resource(new DeviceClassBuilder().withNewMetadata().withName("gpu.partita.dev")
        .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER).endMetadata().withNewSpec().endSpec()
        .build()).create();
    cluster.rules.forbid("/deviceclasses/gpu.partita.dev");
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    eventually().until(() -> cluster.client.resources(DeviceClass.class).list().getItems().size() == 4);
    assertThat(cluster.rules.refusals()).isPositive();
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
