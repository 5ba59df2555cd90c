package dev.partita.controller.slices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlicePublisherTest {
  private final Cluster cluster = Cluster.empty();
  private final ClusterView view = new ClusterView(cluster.client);
  private final SlicePublisher publisher =
      new SlicePublisher(cluster.client, new ApiEdge(() -> true), view, 0, this::claimsOn);
  private List<ResourceClaim> claims = List.of();
  private Set<String> holdingThen = Set.of();

  @AfterEach
  void close() {
    view.close();
    cluster.close();
  }

  @Test
  void whoChangesAClaimThatIsBeingReadFindsItsNodeAmongThoseThatWait() {
    GpuNode byKubeScheduler = GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
    cluster.add(byKubeScheduler);
    view.start();
    publish(byKubeScheduler);
    GpuNode byController = GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
    claims = List.of(new ResourceClaimBuilder().withNewStatus().withNewAllocation().withNewDevices().addNewResult()
        .withDriver("gpu.partita.dev").withPool("node-0/gpu").withDevice("gpu-0").endResult().endDevices()
        .endAllocation().endStatus().build());
    publish(byController);
    assertThat(holdingThen).containsExactly("node-0");
    assertThat(publisher.holding()).containsExactly("node-0");
    claims = List.of();
    publish(byController);
    assertThat(publisher.holding()).isEmpty();
  }

  /** A pod that tolerates the taint for so many seconds is evicted so long after that time. */
  @Test
  void whenPodsAreToBeEvictedIsKeptWhereKubeletDeletesTheSlices() {
    Gpu broken = GpuNodes.card("node-0", 0, "NVIDIA H200", 140 * GpuNodes.GIB, GpuHealth.unhealthy("Lost", ""));
    GpuNode node = GpuNodes.ready("node-0", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null,
        List.of(), List.of(), List.of("Lost"), null), List.of(broken));
    cluster.add(node);
    view.start();
    publish(node);
    everyTaint(taint -> taint.setTimeAdded("2026-01-01T00:00:00Z"));
    publish(node);
    cluster.client.resources(ResourceSlice.class).delete();
    Cluster.eventually().until(() -> view.slices("node-0").isEmpty());
    publish(node);
    assertThat(timesOfEvictions()).isNotEmpty().containsOnly("2026-01-01T00:00:00Z");

    GpuNode well = GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
    publish(well);
    publish(node);
    assertThat(timesOfEvictions()).as("of another time").isNotEmpty().containsOnlyNulls();
  }

  @Test
  void whoComesToLeadKnowsThatTimeFromTheSlicesThatAreThere() {
    Gpu broken = GpuNodes.card("node-0", 0, "NVIDIA H200", 140 * GpuNodes.GIB, GpuHealth.unhealthy("Lost", ""));
    GpuNode node = GpuNodes.ready("node-0", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null,
        List.of(), List.of(), List.of("Lost"), null), List.of(broken));
    cluster.add(node);
    view.start();
    publish(node);
    everyTaint(taint -> taint.setTimeAdded("2026-01-01T00:00:00Z"));
    SlicePublisher next = new SlicePublisher(cluster.client, new ApiEdge(() -> true), view, 0, this::claimsOn);
    publish(next, node);
    assertThat(timesOfEvictions()).isNotEmpty().containsOnly("2026-01-01T00:00:00Z");
    cluster.client.resources(ResourceSlice.class).delete();
    Cluster.eventually().until(() -> view.slices("node-0").isEmpty());
    publish(next, node);
    assertThat(timesOfEvictions()).isNotEmpty().containsOnly("2026-01-01T00:00:00Z");
  }

  private void everyTaint(Consumer<DeviceTaint> change) {
    for (ResourceSlice slice : cluster.client.resources(ResourceSlice.class).list().getItems()) {
      slice.getSpec().getDevices().stream().flatMap(device -> device.getTaints().stream()).forEach(change);
      cluster.client.resource(slice).update();
    }
    shown();
  }

  private List<String> timesOfEvictions() {
    return cluster.client.resources(ResourceSlice.class).list().getItems().stream()
        .flatMap(slice -> slice.getSpec().getDevices().stream()).flatMap(device -> device.getTaints().stream())
        .filter(taint -> taint.getEffect().equals("NoExecute")).map(DeviceTaint::getTimeAdded).toList();
  }

  /** Ends when the view shows what was written. */
  private void publish(GpuNode node) {
    publish(publisher, node);
  }

  private void publish(SlicePublisher by, GpuNode node) {
    by.publish("node-0", Inventory.EMPTY.refreshed(List.of(node)).host("node-0"), node);
    shown();
  }

  private void shown() {
    Set<String> written = versions(cluster.client.resources(ResourceSlice.class).list().getItems());
    assertThat(written).isNotEmpty();
    Cluster.eventually().until(() -> versions(view.slices("node-0")).equals(written));
  }

  private static Set<String> versions(List<ResourceSlice> slices) {
    return slices.stream().map(slice -> slice.getMetadata().getName() + " " + slice.getMetadata().getResourceVersion())
        .collect(Collectors.toSet());
  }

  private List<ResourceClaim> claimsOn(String node) {
    holdingThen = Set.copyOf(publisher.holding());
    return claims;
  }
}
