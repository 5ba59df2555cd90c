package dev.partita.controller.publish;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.claim.AllocationStatus;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublicationLoopTest {
  private static final Duration AGAIN = Duration.ofMillis(500);

  private final AtomicInteger looks = new AtomicInteger(); // at the condition of the node, the last of its publication
  private final Clock counting = new Clock() {
    @Override
    public ZoneId getZone() {
      return Clock.systemUTC().getZone();
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      looks.incrementAndGet();
      return Clock.systemUTC().instant();
    }
  };
  private final Cluster cluster = Cluster.empty();
  private final ClusterView view = new ClusterView(cluster.client);
  private final PublicationLoop loop =
      new PublicationLoop(cluster.client, new ApiEdge(() -> true), view, counting, 0, AGAIN);

  @AfterEach
  void close() {
    cluster.awaitQuiet();
    loop.close();
    view.close();
    cluster.close();
  }

  @Test
  void aNodeWhoseCardHasTooLittleForWhatWasGrantedIsLookedAtOnceInAPauseHoweverOftenItChanges() {
    cluster.add(GpuNodes.ready("node-0",
        new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(PublishedMode.Whole, PublishedMode.Shared), null),
        GpuNodes.cards("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB)));
    share("a", 10, 100);
    share("b", 60, 60);
    view.start();
    loop.start();
    eventually().until(() -> view.isPublished("node-0") && view.claimsOn("node-0").size() == 2);
    for (int i = 0; i < 10; i++) {
      int before = looks.get();
      cluster.client.resources(GpuNode.class).withName("node-0").patch(PatchContext.of(PatchType.JSON_MERGE),
          "{\"metadata\": {\"labels\": {\"changed\": \"%d\"}}}".formatted(i)); // whatever else changes
      eventually().until(() -> looks.get() > before);
    }
    cluster.awaitQuiet();

    int before = looks.get();
    long begin = System.nanoTime();
    eventually().until(() -> looks.get() >= before + 5); // the first may be due at once, and one be of a late event
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(AGAIN.multipliedBy(3));
  }

  private void share(String name, long gib, long granted) {
    String id = "share-" + name;
    ResourceClaim claim = new ResourceClaimBuilder().withNewMetadata().withNamespace("default").withName(name)
        .endMetadata().withNewSpec().endSpec().withNewStatus().withNewAllocation().withNewDevices()
        .withResults(new DeviceRequestAllocationResultBuilder().withRequest("gpu").withDriver(Driver.NAME)
            .withPool(Driver.poolOf("node-0")).withDevice("gpu-0-shared").withShareID(id)
            .withConsumedCapacity(Map.of("memory", new Quantity(gib + "Gi"))).build())
        .endDevices().withNodeSelector(AllocationStatus.onlyOn("node-0")).endAllocation().endStatus().build();
    ResourceClaim resized = new GrantedSizes(Map.of(id, new ShareSize(granted * GpuNodes.GIB, 0))).on(claim);
    cluster.client.resource(resized).create();
    cluster.client.resources(ResourceClaim.class).inNamespace("default").withName(name)
        .editStatus(made -> new ResourceClaimBuilder(made).withStatus(resized.getStatus()).build());
  }
}
