package dev.partita.controller.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.CardUse;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AllocationStatusTest {
  private static final ResourceClaim CLAIM =
      Serialization.unmarshal(
          """
              apiVersion: resource.k8s.io/v1
              kind: ResourceClaim
              metadata: {name: c, namespace: default, uid: u}
              spec:
                devices:
                  requests:
                  - name: a
                    exactly: {deviceClassName: soft-gpu}
                  - name: b
                    firstAvailable:
                    - {name: x, deviceClassName: soft-gpu}
                    - {name: y, deviceClassName: gpu.partita.dev}
                  config:
                  - {requests: [b], opaque: {driver: gpu.partita.dev, parameters: {order: 1}}}
                  - {opaque: {driver: gpu.partita.dev, parameters: {order: 2}}}
                  - {requests: [b/y, a], opaque: {driver: nic.example, parameters: {order: 3}}}
                  - {requests: [b/x], opaque: {driver: gpu.partita.dev, parameters: {order: 4}}}
              """,
          ResourceClaim.class);
  private static final Inventory INVENTORY =
      Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB)));
  private static final Map<String, DeviceClass> CLASSES =
      Map.of(
          "soft-gpu",
          Serialization.unmarshal(
              """
                  apiVersion: resource.k8s.io/v1
                  kind: DeviceClass
                  metadata: {name: soft-gpu}
                  spec:
                    config:
                    - opaque: {driver: gpu.partita.dev, parameters: {order: 0}}
                  """,
              DeviceClass.class));

  @Test
  void configsOfClassesComeFirstEachForItsRequestAndThenTheClaimsWithTheirRequests() {
    assertThat(configs("a", "b/y"))
        .extracting(DeviceAllocationConfiguration::getSource, DeviceAllocationConfiguration::getRequests,
            AllocationStatusTest::order)
        .containsExactly(
            tuple("FromClass", List.of("a"), 0),
            tuple("FromClaim", List.of("b"), 1),
            tuple("FromClaim", List.of(), 2),
            tuple("FromClaim", List.of("b/y", "a"), 3));
  }

  @Test
  void configsOfAClassStandThereOnceForAllOfItsRequests() {
    assertThat(configs("a", "b/x"))
        .extracting(DeviceAllocationConfiguration::getSource, DeviceAllocationConfiguration::getRequests,
            AllocationStatusTest::order)
        .startsWith(tuple("FromClass", List.of("a", "b/x"), 0), tuple("FromClaim", List.of("b"), 1));
  }

  @Test
  void configsThatCoverNothingThatWasAllocatedAreLeftOut() {
    assertThat(configs("a")).extracting(AllocationStatusTest::order).as("b and b/x are not there").containsExactly(0, 2,
        3);
    assertThat(configs("b/x")).extracting(AllocationStatusTest::order).as("another alternative than b/y")
        .containsExactly(0, 1, 2, 4);
    assertThat(configs("b/y")).extracting(AllocationStatusTest::order).as("its class has none").containsExactly(1, 2,
        3);
  }

  /**
   * A toleration of the allocator's taint in a result tells a plugin that kube-scheduler took the device past the
   * controller.
   */
  @Test
  void resultsTolerateWhatTheirRequestsDoButTheAllocatorsTaint() {
    assertThat(tolerations("{operator: Exists}")).containsExactly("null Exists NoExecute");
    assertThat(tolerations("{operator: Exists, effect: NoSchedule}")).isEmpty();
    assertThat(tolerations("{key: gpu.partita.dev/allocator, operator: Exists}"))
        .containsExactly("gpu.partita.dev/allocator Exists NoExecute");
    assertThat(tolerations("{key: gpu.partita.dev/unhealthy, operator: Exists}, {operator: Exists, effect: NoExecute}"))
        .containsExactly("gpu.partita.dev/unhealthy Exists null", "null Exists NoExecute");
    assertThat(tolerations("{operator: Exists}], adminAccess: true, selectors: [")).as("who only looks")
        .containsExactly("null Exists null");
  }

  @Test
  void whoHasACardInTurnConsumesAllOfItForKubeScheduler() {
    Device shared = INVENTORY.hosts().values().iterator().next().devices().stream()
        .filter(Device::allowsMultipleAllocations).findFirst().orElseThrow();
    DeviceRequest turn = DeviceRequest.of("a", List.of(), new DeviceRequest.Count.Exactly(1),
        new CapacityRequest(new MemoryRequest.Unsaid(), OptionalLong.empty(), 100,
            new Sharing.TimeSlicing(TimeSlice.LONG)));
    Match match = (Match) CardUse.of(turn.strategy(shared.name())).match(shared, turn);
    ClaimPlacement placement = new ClaimPlacement(ClaimReader.ref(CLAIM), List.of(new DevicePlacement(turn, match)));
    assertThat(AllocationStatus.of(CLAIM, placement, "node-0", CLASSES::get, UUID::randomUUID, Instant.EPOCH)
        .getDevices().getResults()).singleElement().satisfies(result -> {
          assertThat(result.getShareID()).isNotNull();
          assertThat(result.getConsumedCapacity().get("memory")).hasToString("1Gi");
        });
  }

  private static List<String> tolerations(String tolerations) {
    ResourceClaim claim =
        Serialization.unmarshal(
            """
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {name: c, namespace: default, uid: u}
                spec: {devices: {requests: [{name: a, exactly: {deviceClassName: soft-gpu, tolerations: [%s]}}]}}
                """
                .formatted(tolerations),
            ResourceClaim.class);
    Device device = INVENTORY.hosts().values().iterator().next().devices().getFirst();
    ClaimPlacement placement =
        new ClaimPlacement(ClaimReader.ref(claim), List.of(placement("a", device)));
    return AllocationStatus.of(claim, placement, "node-0", CLASSES::get, UUID::randomUUID, Instant.EPOCH)
        .getDevices()
        .getResults()
        .getFirst()
        .getTolerations()
        .stream()
        .map(toleration -> toleration.getKey() + " " + toleration.getOperator() + " " + toleration.getEffect())
        .toList();
  }

  private static List<DeviceAllocationConfiguration> configs(String... requests) {
    Device device = INVENTORY.hosts().values().iterator().next().devices().getFirst();
    List<DevicePlacement> devices =
        Stream.of(requests).map(request -> placement(request, device)).toList();
    return AllocationStatus
        .of(CLAIM, new ClaimPlacement(ClaimReader.ref(CLAIM), devices), "node-0", CLASSES::get, UUID::randomUUID,
            Instant.EPOCH)
        .getDevices()
        .getConfig();
  }

  private static DevicePlacement placement(String request, Device device) {
    CardUse use = CardUse.of(request(request).strategy(device.name()));
    return new DevicePlacement(request(request), new Match(device, 0, 0, use));
  }

  private static DeviceRequest request(String request) {
    return DeviceRequest.of(request, List.of(), new DeviceRequest.Count.Exactly(1),
        CapacityRequest.of(OptionalLong.empty(), OptionalLong.empty()));
  }

  private static int order(DeviceAllocationConfiguration config) {
    return new ObjectMapper().valueToTree(config.getOpaque().getParameters()).path("order").asInt(-1);
  }
}
