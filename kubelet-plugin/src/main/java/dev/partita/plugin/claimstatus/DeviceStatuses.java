package dev.partita.plugin.claimstatus;

import dev.partita.api.Driver;
import dev.partita.plugin.claim.AllocationReading;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.claim.PreparedClaim;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A claim's {@code status.devices} with our entries brought up to date and those of others as they were. */
final class DeviceStatuses {
  private DeviceStatuses() {}

  /** The new list; equal to the old one if nothing changed. */
  static List<AllocatedDeviceStatus> update(
      ResourceClaim claim, PreparedClaim prepared, String pool, String nodeName, Instant now) {
    List<AllocatedDeviceStatus> earlier =
        claim.getStatus() == null || claim.getStatus().getDevices() == null ? List.of() : claim.getStatus().getDevices();
    List<AllocatedDeviceStatus> devices = new ArrayList<>();
    earlier.stream().filter(device -> !isOurs(device, pool)).forEach(devices::add);
    for (Grant grant : prepared.grants()) {
      Optional<String> shareId = AllocationReading.shareIdOf(claim, pool, grant); // compared as text by the API server
      Optional<AllocatedDeviceStatus> before =
          earlier.stream()
              .filter(d -> isOurs(d, pool))
              .filter(d -> grant.device().equals(d.getDevice()) && Objects.equals(shareId.orElse(null), d.getShareID()))
              .findFirst();
      devices.add(status(prepared, grant, shareId, before, pool, nodeName, now));
    }
    boolean same = devices.size() == earlier.size() && devices.containsAll(earlier);
    return same ? earlier : devices;
  }

  private static AllocatedDeviceStatus status(
      PreparedClaim prepared,
      Grant grant,
      Optional<String> shareId,
      Optional<AllocatedDeviceStatus> before,
      String pool,
      String nodeName,
      Instant now) {
    String since =
        before.stream()
            .filter(device -> device.getConditions() != null)
            .flatMap(device -> device.getConditions().stream())
            .filter(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()))
            .map(Condition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(now.truncatedTo(ChronoUnit.SECONDS).toString());
    AllocatedDeviceStatusBuilder status =
        new AllocatedDeviceStatusBuilder()
            .withDriver(Driver.NAME)
            .withPool(pool)
            .withDevice(grant.device())
            .withData(new RawExtension(ClaimWords.data(prepared.claim(), grant, nodeName)))
            .withConditions(
                new ConditionBuilder()
                    .withType("Ready")
                    .withStatus("True")
                    .withReason("Prepared")
                    .withMessage(ClaimWords.message(grant, nodeName))
                    .withLastTransitionTime(since)
                    .build());
    shareId.ifPresent(status::withShareID);
    return status.build();
  }

  private static boolean isOurs(AllocatedDeviceStatus device, String pool) {
    return Driver.NAME.equals(device.getDriver()) && pool.equals(device.getPool());
  }
}
