package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Enforcer;
import dev.partita.plugin.grant.Grants;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DeviceStatusesTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final PreparedClaim prepared =
      new PreparedClaim(new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001"),
          PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.share("a", 0, "key", 8, 25)), Map.of(), false);
  private final AllocatedDeviceStatus first = status(new ResourceClaim(), Map.of()).getFirst();

  @Test
  void aPeakThatThePluginBeforeHasToldIsKept() {
    assertThat(peakAfter("5000Mi", "1000Mi")).isEqualTo("5000Mi");
    assertThat(peakAfter("5000Mi", "6000Mi")).isEqualTo("6000Mi");
  }

  @Test
  void aPeakThatIsNoAmountGivesWay() {
    assertThat(peakAfter("much", "1000Mi")).isEqualTo("1000Mi");
  }

  @Test
  void figuresStayWhenNothingIsToldOfThem() {
    assertThat(data(status(claim("5000Mi"), Map.of())).get("memoryPeak")).isEqualTo("5000Mi");
  }

  @Test
  void itSaysWhoHoldsTheShareToItsMemoryAndWhatIsWrongWithItsCard() {
    assertThat(withCard(GpuHealth.HEALTHY, new Enforcer.Cgroup())).containsEntry("enforcement", "Driver")
        .containsEntry("health", "Healthy");
    assertThat(withCard(GpuHealth.unhealthy("GpuIsLost", "gone"), new Enforcer.Interception()))
        .containsEntry("enforcement", "Interception").containsEntry("health", "GpuIsLost");
    assertThat(data(status(new ResourceClaim(), Map.of())).containsKey("health")).isFalse();
  }

  @Test
  void aSizeThatWasGrantedIsThereAsLongAsTheClaimSaysSo() {
    ResourceClaim claim = resizable("memory=4Gi,cores=25");
    List<AllocatedDeviceStatus> granted = status(claim, Map.of());
    assertThat(data(granted).get("sizeGranted")).isEqualTo("memory=4Gi,cores=25");
    claim.getMetadata().setAnnotations(Map.of());
    claim.getStatus().setDevices(granted);
    assertThat(data(status(claim, Map.of())).containsKey("sizeGranted")).isFalse();
  }

  @Test
  void aSizeThatIsAskedForIsThereWhetherItIsGrantedOrNot() {
    for (String words : List.of("granted", "waits: others have it", "refused: no card has it")) {
      ResourceClaim claim = resizable("memory=4Gi,cores=25");
      claim.getMetadata().getAnnotations().put(Driver.RESIZE_ANSWER_ANNOTATION, "memory=9Gi: " + words);
      assertThat(data(status(claim, Map.of()))).as(words).satisfies(data -> {
        assertThat(data.get("sizeAsked")).isEqualTo("memory=9Gi");
        assertThat(data.get("sizeGranted")).isEqualTo("memory=4Gi,cores=25");
      });
    }
  }

  @Test
  void whatIsNoSizeIsNotCalledOne() {
    ResourceClaim claim = resizable("memory=4Gi,cores=25");
    claim.getMetadata().getAnnotations().put(Driver.RESIZE_ANSWER_ANNOTATION, "plenty: refused: is not understood");
    assertThat(data(status(claim, Map.of())).containsKey("sizeAsked")).isFalse();
  }

  @Test
  void thatADeviceIsMadeIsSaidAsLongAsKubeSchedulerMayAskForIt() {
    ResourceClaim claim = resizable("memory=4Gi,cores=25");
    assertThat(conditions(claim)).doesNotContain("InstanceMade");
    claim.getStatus().getAllocation().getDevices().getResults().getFirst()
        .setBindingConditions(List.of("InstanceMade"));
    assertThat(conditions(claim)).contains("InstanceMade");
    assertThat(InstanceStatuses.of(claim, "node/gpu")).isEqualTo(InstanceStatuses.State.AWAITED);
    claim.getStatus().setDevices(status(claim, Map.of()));
    assertThat(InstanceStatuses.of(claim, "node/gpu")).isEqualTo(InstanceStatuses.State.MADE);
    assertThat(InstanceStatuses.of(claim, "elsewhere/gpu")).isEqualTo(InstanceStatuses.State.NONE);
  }

  private List<String> conditions(ResourceClaim claim) {
    return status(claim, Map.of("key", new DeviceNotes(Map.of(), List.of()))).getFirst().getConditions().stream()
        .map(condition -> condition.getType()).toList();
  }

  /** The claim, allocated, with the annotation of the size that was granted. */
  private static ResourceClaim resizable(String granted) {
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .addToAnnotations(Driver.GRANTED_SIZES_ANNOTATION, "key:" + granted)
        .endMetadata()
        .withNewStatus()
        .withNewAllocation()
        .withNewDevices()
        .addNewResult()
        .withDriver(Driver.NAME)
        .withPool(Driver.poolOf("node"))
        .withDevice("gpu-0-shared")
        .withRequest("gpu")
        .withShareID("key")
        .endResult()
        .endDevices()
        .endAllocation()
        .endStatus()
        .build();
  }

  private Map<Object, Object> withCard(GpuHealth health, Enforcer ofShares) {
    return new TreeMap<>(
        data(new DeviceStatuses(new ResourceClaim(), prepared, "node",
            card -> Optional.of(new ClaimReports.CardNow(health, ofShares)), NOW).wanted(Map.of())));
  }

  private Object peakAfter(String told, String now) {
    DeviceNotes notes = new DeviceNotes(Map.of(DeviceStatusData.MEMORY_PEAK.key(), now), List.of());
    return Objects.requireNonNull(data(status(claim(told), Map.of("key", notes))).get("memoryPeak"));
  }

  /** A claim whose status has this peak. */
  private ResourceClaim claim(String peak) {
    first.setData(new RawExtension(Map.of(DeviceStatusData.MEMORY_PEAK.key(), peak)));
    return new ResourceClaimBuilder().withNewStatus().withDevices(first).endStatus().build();
  }

  private List<AllocatedDeviceStatus> status(ResourceClaim claim, Map<String, DeviceNotes> notes) {
    return new DeviceStatuses(claim, prepared, "node", ClaimReports.CardsNow.NONE, NOW).wanted(notes);
  }

  private static Map<?, ?> data(List<AllocatedDeviceStatus> devices) {
    return (Map<?, ?>) ((RawExtension) devices.getFirst().getData()).getValue();
  }
}
