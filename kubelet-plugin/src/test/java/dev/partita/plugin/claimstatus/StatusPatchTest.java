package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StatusPatchTest {
  private static final String POOL = "node-a/gpu";
  private static final AllocatedDeviceStatus NIC =
      new AllocatedDeviceStatusBuilder().withDriver("nic.example.com").withPool("p").withDevice("eth0").build();

  @Test
  void nothingToChangeIsNoPatch() {
    assertThat(StatusPatch.of(claim(NIC, ours("gpu-0", "s", "x")), List.of(ours("gpu-0", "s", "x")), POOL)).isEmpty();
    assertThat(StatusPatch.of(claim(NIC), List.of(), POOL)).isEmpty();
  }

  @Test
  void othersEntriesAreNeitherSentNorTouchedAndOursAreTestedBeforeTheyAreReplaced() {
    List<Map<String, Object>> patch =
        StatusPatch.of(claim(NIC, ours("gpu-0", "s", "old"), ours("gpu-1", "t", "x")),
            List.of(ours("gpu-0", "s", "new"), ours("gpu-1", "t", "x")), POOL);
    JsonNode json = new ObjectMapper().valueToTree(patch);
    assertThat(json.toString()).doesNotContain("nic.example.com");
    assertThat(patch)
        .extracting(operation -> operation.get("op") + " " + operation.get("path"))
        .containsExactly(
            "replace /metadata/resourceVersion",
            "test /status/devices/1/driver",
            "test /status/devices/1/pool",
            "test /status/devices/1/device",
            "test /status/devices/1/shareID",
            "replace /status/devices/1");
  }

  @Test
  void anEntryThatIsNotWantedAnyMoreGoesFromTheEndAndANewOneComesBehindTheOthers() {
    List<Map<String, Object>> patch =
        StatusPatch.of(claim(ours("gpu-0", "s", "x"), NIC, ours("gpu-1", "t", "x")), List.of(ours("gpu-2", "u", "x")),
            POOL);
    assertThat(patch)
        .filteredOn(operation -> !"test".equals(operation.get("op")))
        .extracting(operation -> operation.get("op") + " " + operation.get("path"))
        .containsExactly("replace /metadata/resourceVersion", "remove /status/devices/2", "remove /status/devices/0",
            "add /status/devices/-");
  }

  @Test
  void theFirstEntriesMakeTheList() {
    assertThat(StatusPatch.of(claim(), List.of(ours("gpu-0", "s", "x")), POOL))
        .extracting(operation -> operation.get("op") + " " + operation.get("path"))
        .containsExactly("replace /metadata/resourceVersion", "add /status/devices");
  }

  private static ResourceClaim claim(AllocatedDeviceStatus... devices) {
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .withName("c")
        .withResourceVersion("7")
        .endMetadata()
        .withNewStatus()
        .withDevices(devices)
        .endStatus()
        .build();
  }

  private static AllocatedDeviceStatus ours(String device, String share, String data) {
    return new AllocatedDeviceStatusBuilder()
        .withDriver("gpu.partita.dev")
        .withPool(POOL)
        .withDevice(device)
        .withShareID(share)
        .withData(new RawExtension(Map.of("data", data)))
        .build();
  }
}
