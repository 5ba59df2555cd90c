package dev.partita.controller.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.OtherDriverDevice;
import dev.partita.controller.GpuNodes;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttributeBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OtherDriversTest {
  private static final String NVIDIA = "gpu.nvidia.com";
  private static final String INSTANCE = "MIG-5f1d2c3b-77aa-4c0d-9a51-0000000000a1";

  /** Their UUIDs are GPU-n-0 and GPU-n-1, and their places on the PCI bus 0000:00:00.0 and 0000:01:00.0. */
  private static final List<Gpu> CARDS = List.of(card(0), card(1).withStaticMigInstances(
      List.of(new StaticMigInstance(INSTANCE, "1g.18gb", new MigProfile.Placement(0, 1)),
          new StaticMigInstance("", "1g.18gb", new MigProfile.Placement(1, 1)))));

  @ParameterizedTest
  @CsvSource({"uuid, GPU-n-1", "gpu.nvidia.com/uuid, GPU-n-1", "uuid, gpu-n-1", "UUID, GPU-n-1",
    "parentUUID, GPU-n-1", "gpu_uuid, GPU-n-1", "uuid, " + INSTANCE,
    "uuid, mig-5f1d2c3b-77aa-4c0d-9a51-0000000000a1", "resource.kubernetes.io/pciBusID, 0000:01:00.0",
    "pcieBusID, 0000:01:00.0", "pcieBusID, 00000000:01:00.0", "gpu.nvidia.com/pciBusID, 0000:01:00.0",
    "pciAddr, 0000:01:00.0"})
  void aClaimedDeviceIsTheCardThatItsDriverSaysItIs(String attribute, String value) {
    assertThat(found(slice(NVIDIA, "gpu-7", attribute, text(value)), claim(NVIDIA, "gpu-7")).devices())
        .containsExactly(new OtherDriverDevice("GPU-n-1", NVIDIA, "n", "gpu-7", 1));
  }

  @ParameterizedTest
  @CsvSource({"uuid, ''", "uuid, GPU-n-11", "uuid, GPU-n", "uuid, 5c1f9a1e-vfio", "productName, GPU-n-1",
    "nearestGpu, 0000:01:00.0", "nic.example.com/uuid, GPU-n-1", "pcieBusID, 0001:01:00.0", "pcieBusID, 01:00.0",
    "pcieBusID, ''", "resource.kubernetes.io/pcieRoot, pci0000:01"})
  void aDeviceOfWhichNothingNamesACardIsNone(String attribute, String value) {
    assertThat(found(slice(NVIDIA, "gpu-7", attribute, text(value)), claim(NVIDIA, "gpu-7")).devices()).isEmpty();
  }

  @Test
  void whatNoClaimHasOrOnlyForAdministrationIsTakenFromNobody() {
    ResourceSlice slice = slice(NVIDIA, "gpu-1", "uuid", text("GPU-n-1"));
    ResourceClaim looks = claim(NVIDIA, "gpu-1");
    looks.getStatus().getAllocation().getDevices().getResults().getFirst().setAdminAccess(true);
    assertThat(found(slice, looks, claim(NVIDIA, "gpu-2"), claim("gpu.example.com", "gpu-1")).devices()).isEmpty();
    assertThat(found(slice, looks, claim(NVIDIA, "gpu-1"), claim(NVIDIA, "gpu-1")).devices())
        .containsExactly(new OtherDriverDevice("GPU-n-1", NVIDIA, "n", "gpu-1", 2));
  }

  @Test
  void whatOurOwnDriverGivesIsNobodyElses() {
    assertThat(found(slice(Driver.NAME, "gpu-1", "uuid", text("GPU-n-1")), claim(Driver.NAME, "gpu-1")).devices())
        .isEmpty();
  }

  @Test
  void anAttributeOfAnotherTypeIsPassedOverAndToldOfOnceForAllDevicesOfADriver() {
    ResourceSlice slice = slice(NVIDIA, "gpu-1", "uuid", new DeviceAttributeBuilder().withInt(7L).build());
    slice.getSpec().getDevices().getFirst().getAttributes().put("parentUUID",
        new DeviceAttributeBuilder().withVersion("1.0.0").build());
    slice.getSpec().getDevices().getFirst().getAttributes().put("pcieBusID", text("0000:01:00.0"));
    ResourceSlice second = slice(NVIDIA, "gpu-2", "uuid", new DeviceAttributeBuilder().withBool(true).build());
    OtherDrivers.Found found = OtherDrivers.on(CARDS, List.of(slice, second),
        List.of(claim(NVIDIA, "gpu-1"), claim(NVIDIA, "gpu-2")), List.of());
    assertThat(found.devices()).containsExactly(new OtherDriverDevice("GPU-n-1", NVIDIA, "n", "gpu-1", 1));
    assertThat(found.problems()).containsExactly(
        "the attribute parentUUID of devices of gpu.nvidia.com is no string: which cards they are is not known by it",
        "the attribute uuid of devices of gpu.nvidia.com is no string: which cards they are is not known by it");
  }

  @Test
  void aDeviceThatIsPublishedNoMoreIsStillTheCardThatItWasAsLongAsAClaimHasIt() {
    List<OtherDriverDevice> before = List.of(new OtherDriverDevice("GPU-n-0", NVIDIA, "n", "gpu-0", 1),
        new OtherDriverDevice("GPU-away", NVIDIA, "n", "gpu-8", 1));
    ResourceClaim claim = claim(NVIDIA, "gpu-0");
    assertThat(OtherDrivers.on(CARDS, List.of(), List.of(claim, claim(NVIDIA, "gpu-8")), before).devices())
        .containsExactly(before.getFirst());
    assertThat(OtherDrivers.on(CARDS, List.of(), List.of(), before).devices()).isEmpty();
    assertThat(OtherDrivers.on(CARDS, List.of(slice(NVIDIA, "gpu-0", "uuid", text("GPU-n-1"))), List.of(claim), before)
        .devices()).as("its driver says now that it is another card")
        .containsExactly(new OtherDriverDevice("GPU-n-1", NVIDIA, "n", "gpu-0", 1));
  }

  @Test
  void ofACardSoManyDevicesAreToldAndNoMore() {
    List<ResourceSlice> slices = IntStream.range(0, 50)
        .mapToObj(i -> slice(NVIDIA, "gpu-0-mig-" + i, "parentUUID", text("GPU-n-0"))).toList();
    List<ResourceClaim> claims =
        IntStream.range(0, 50).mapToObj(i -> claim(NVIDIA, "gpu-0-mig-" + i)).toList();
    assertThat(OtherDrivers.on(CARDS, slices, claims, List.of()).devices()).hasSize(OtherDrivers.MOST_OF_A_CARD)
        .allSatisfy(device -> assertThat(device.uuid()).isEqualTo("GPU-n-0"));
  }

  private static OtherDrivers.Found found(ResourceSlice slice, ResourceClaim... claims) {
    return OtherDrivers.on(CARDS, List.of(slice), List.of(claims), List.of());
  }

  private static Gpu card(int index) {
    return GpuNodes.card("n", index, "NVIDIA H200", 140 * GpuNodes.GIB, GpuHealth.HEALTHY);
  }

  private static DeviceAttribute text(String value) {
    return new DeviceAttributeBuilder().withString(value).build();
  }

  private static ResourceSlice slice(String driver, String device, String attribute, DeviceAttribute value) {
    return new ResourceSliceBuilder().withNewMetadata().withName("n-" + driver + "-" + device).endMetadata()
        .withNewSpec().withDriver(driver).withNodeName("n").withNewPool(1L, "n", 1L)
        .addNewDevice().withName(device).withAttributes(new java.util.HashMap<>(Map.of(attribute, value))).endDevice()
        .endSpec().build();
  }

  private static ResourceClaim claim(String driver, String device) {
    return new ResourceClaimBuilder().withNewMetadata().withName(device).withNamespace("default").endMetadata()
        .withNewStatus().withNewAllocation().withNewDevices()
        .addNewResult().withRequest("gpu").withDriver(driver).withPool("n").withDevice(device).endResult()
        .endDevices().endAllocation().endStatus().build();
  }
}
