package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BadInputTest {
  /** A claim that can never be had. */
  private record Bad(
      String className,
      Map<String, String> capacity,
      long count,
      String selector,
      Map<String, Object> config,
      String said) {
    Bad(String className, Map<String, String> capacity, String said) {
      this(className, capacity, 1, "", Map.of(), said);
    }
  }

  private static final String SHARE = "gpu.partita.dev";

  private static final Map<String, Bad> TABLE = new LinkedHashMap<>();

  static {
    TABLE.put("cel-fails", new Bad(SHARE, Map.of(), 1, "device.attributes[\"gpu.partita.dev\"].nonsuch == 1", Map.of(),
        "selector of request gpu failed: "));
    TABLE.put("cel-does-not-compile",
        new Bad(SHARE, Map.of(), 1, "device.model ==", Map.of(), "selectors[0].cel.expression: "));
    TABLE.put("class-vanished",
        new Bad("b200.gpu.partita.dev", Map.of(), "deviceClassName: there is no DeviceClass b200.gpu.partita.dev"));
    TABLE.put("class-selects-nothing", new Bad("nothing", Map.of(), "model is h200, asked none-such"));
    TABLE.put("not-on-one-nvlink",
        new Bad("whole.gpu.partita.dev", Map.of(), 3, "", Map.of("placement", Map.of("nvlink", "Required")),
            "each request fits, but not all of them together under the claim's constraints"));
    TABLE.put("unknown-placement",
        new Bad(SHARE, Map.of(), 1, "", Map.of("placement", Map.of("gpus", "Everywhere")), "placement.gpus: "));
    TABLE.put("negative-memory",
        new Bad(SHARE, Map.of("memory", "-1Gi"), "capacity.requests[memory]: must not be negative"));
    TABLE.put("more-memory-than-numbers", new Bad(SHARE, Map.of("memory", "900Ei"), "the largest h200 has 140 GiB"));
    TABLE.put("more-cores-than-a-card",
        new Bad(SHARE, Map.of("memory", "1Gi", "cores", "101"), "asks 101 % cores; a card has 100 %"));
    TABLE.put("more-devices-than-a-claim",
        new Bad("whole.gpu.partita.dev", Map.of(), 33, "", Map.of(), "asks for 33 devices; one claim can hold 32"));
    TABLE.put("more-devices-than-a-node",
        new Bad("whole.gpu.partita.dev", Map.of(), 5, "", Map.of(), "5 wanted on one node by request gpu, "));
    TABLE.put("unknown-capacity",
        new Bad(SHARE, Map.of("tensors", "1"), "capacity.requests[tensors]: is not a capacity of a GPU"));
  }

  @Test
  void aProposalThatSomebodyMadeUpStopsNobody() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      String forged = "node-0" + " gpu-0-shared=999999999999999999/0".repeat(10) + " #a";
      cluster.claim("before", SHARE, Map.of("memory", "1Gi"));
      cluster.pod("before", "before");
      cluster.result("before");
      cluster.claim("forged", SHARE, Map.of("memory", "1Gi"));
      cluster.client.resource(new ResourceClaimBuilder(cluster.read("forged")).editMetadata()
          .addToAnnotations(Driver.PROPOSAL_ANNOTATION, forged).endMetadata().build()).update();
      cluster.claim("good", SHARE, Map.of("memory", "1Gi"));
      cluster.pod("good", "good");
      cluster.result("good");
      cluster.pod("forged", "forged");
      cluster.result("forged");
    }
  }

  @Test
  void proposalsThatAUserWritesWithoutEndTakeNothingFromANeighbour() {
    try (Cluster cluster = Cluster.empty();
        ScheduledExecutorService hostile = Executors.newSingleThreadScheduledExecutor()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      cluster.claim("before", SHARE, Map.of("memory", "1Gi"));
      cluster.pod("before", "before");
      cluster.result("before");
      cluster.claim("forged", SHARE, Map.of("memory", "139Gi"));
      cluster.claim("of-another-driver", "nic.example.com", Map.of());
      AtomicInteger written = new AtomicInteger();
      for (String claim : List.of("forged", "of-another-driver")) {
        var _ =
            hostile.scheduleWithFixedDelay(
                () -> propose(cluster, claim,
                    "node-0 gpu-0-shared=" + 139 * GpuNodes.GIB + "/0 #" + written.incrementAndGet()),
                0, 200, TimeUnit.MILLISECONDS);
      }
      eventually().until(() -> written.get() > 4);
      cluster.claim("good", SHARE, Map.of("memory", "139Gi"));
      cluster.pod("good", "good");
      cluster.result("good");
      int soFar = written.get();
      eventually().until(() -> written.get() > soFar + 2); // it goes on all the while
    }
  }

  /** A conflict is no matter: the next one comes soon. */
  private static void propose(Cluster cluster, String claim, String proposal) {
    try {
      cluster.client
          .resource(
              new ResourceClaimBuilder(cluster.read(claim))
                  .editMetadata()
                  .addToAnnotations(Driver.PROPOSAL_ANNOTATION, proposal)
                  .endMetadata()
                  .build())
          .update();
    } catch (KubernetesClientException e) {
      assertThat(e.getCode()).isNotEqualTo(422);
    }
  }

  @Test
  void whatCannotBeHadIsSaidOnItsClaimAndDelaysNobody() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 4, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.client
          .resource(
              new DeviceClassBuilder()
                  .withNewMetadata().withName("nothing").endMetadata()
                  .withNewSpec()
                  .addNewSelector()
                  .withNewCel(
                      "device.driver == \"gpu.partita.dev\" && device.attributes[\"gpu.partita.dev\"].model == \"none-such\"")
                  .endSelector()
                  .endSpec()
                  .build())
          .create();
      cluster.start();
      eventually()
          .until(() -> cluster.client.resources(DeviceClass.class).withName("h200.gpu.partita.dev").get() != null);
      TABLE.forEach((name, bad) -> {
        cluster.claim(
            new ClaimForm(name, bad.className()).count(bad.count()).selector(bad.selector()).capacity(bad.capacity())
                .config(bad.config()));
        cluster.pod(name, name);
      });
      cluster.claim("good", SHARE, Map.of("memory", "8Gi"));
      cluster.pod("good", "good");
      cluster.result("good");
      TABLE.forEach((name, bad) -> {
        eventually().untilAsserted(() -> assertThat(cluster.note(name, "Unallocatable")).as(name).contains(bad.said()));
        assertThat(cluster.isAllocated(name)).as(name).isFalse();
      });
    }
  }
}
