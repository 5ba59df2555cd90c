package dev.partita.plugin.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AllocationReadingTest {
  private static final Gpu CARD =
      new Gpu(0, 0, "GPU-0", "NVIDIA H100", "h100", "Nvidia", "Hopper", "9.0", 80 * Grants.GIB, null, null, null, null, GpuHealth.HEALTHY);
  private static final Inventory.Cards CARDS =
      new Inventory.Cards(new DriverFiles("580.1", "/usr/lib", List.of(), List.of(), List.of(), new TreeMap<>()), "580.1", Optional.empty(), List.of(CARD));

  /** adminAccess consumes nothing, so an allocation of a shared device has no share: it is the card that is looked at. */
  @Test
  void adminAccessIsToTheWholeCardBesidesWhoeverHasItAndWhateverDeviceNamesIt() {
    DeviceRequestAllocationResult shared = TestClaims.share("node", "gpu", 0, "", "");
    for (String device : List.of("gpu-0", "gpu-0-shared")) {
      DeviceRequestAllocationResult result =
          new DeviceRequestAllocationResultBuilder(shared).withDevice(device).withShareID(null).withConsumedCapacity(null).withAdminAccess(true).build();
      AllocationReading.Outcome outcome =
          AllocationReading.read(TestClaims.claim("monitor", result), Driver.poolOf("node"), CARDS, GpuNodeSpec.DEFAULT);
      assertThat(outcome)
          .isInstanceOfSatisfying(
              AllocationReading.Granted.class,
              granted ->
                  assertThat(granted.grants())
                      .singleElement()
                      .satisfies(
                          grant -> {
                            assertThat(grant.use()).isEqualTo(new Grant.Whole(true));
                            assertThat(grant.device()).isEqualTo(device);
                          }));
    }
  }

  @Test
  void aShareInPercentIsWhatWasAllocated() {
    assertThat(read(50, "40Gi"))
        .isInstanceOfSatisfying(
            AllocationReading.Granted.class,
            granted ->
                assertThat(granted.grants().getFirst().use())
                    .isInstanceOfSatisfying(Grant.Share.class, share -> assertThat(share.memoryBytes()).isEqualTo(40 * Grants.GIB)));
    assertThat(read(100, "80Gi")).isInstanceOf(AllocationReading.Granted.class);
  }

  @Test
  void allOfTheCardForAPartOfItIsWhatKubeSchedulerMadeOfItAndIsRefused() {
    for (String all : new String[] {"80Gi", ""}) {
      assertThat(read(50, all))
          .isInstanceOfSatisfying(
              AllocationReading.Refused.class,
              refused -> assertThat(refused.reason()).startsWith("device gpu-0-shared of request gpu has all of the card's memory allocated, and its config asks for 50 percent"));
    }
  }

  private static AllocationReading.Outcome read(int percent, String memory) {
    Map<String, Object> parameters = Map.of("apiVersion", "gpu.partita.dev/v1alpha1", "kind", "GpuShareConfig", "memoryPercent", percent);
    return AllocationReading.read(
        TestClaims.claim("c", List.of(TestClaims.config("FromClaim", List.of(), parameters)), TestClaims.share("node-0", "gpu", 0, memory, "")),
        "node-0/gpu",
        CARDS,
        GpuNodeSpec.DEFAULT);
  }
}
