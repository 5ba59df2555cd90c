package dev.partita.plugin.claimstatus;

import dev.partita.api.Driver;
import dev.partita.api.device.InstanceCondition;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads and makes the conditions of MIG instances for which kube-scheduler waits before it binds a pod. They stay as
 * long as the claim is allocated: kube-scheduler looks at them again for each further pod of the claim.
 */
public final class InstanceStatuses {
  private static final Set<String> TYPES =
      Stream.of(InstanceCondition.values()).map(Enum::name).collect(Collectors.toUnmodifiableSet());

  private InstanceStatuses() {}

  /** How far the instances of a claim are. */
  public enum State {
    /** It has no instance here for which kube-scheduler waits. */
    NONE,
    /** Kube-scheduler waits for some. */
    AWAITED,
    /** Kube-scheduler has been told that all are there. */
    MADE,
    /** Kube-scheduler has been told that one cannot be made. */
    FAILED
  }

  /** By what the claim's status says. */
  public static State of(ResourceClaim claim, String pool) {
    List<DeviceRequestAllocationResult> awaited = awaited(claim, pool);
    if (awaited.isEmpty()) {
      return State.NONE;
    }
    if (awaited.stream().anyMatch(result -> isTrue(claim, result, InstanceCondition.InstanceFailed))) {
      return State.FAILED;
    }
    return awaited.stream().allMatch(result -> isTrue(claim, result, InstanceCondition.InstanceMade))
        ? State.MADE
        : State.AWAITED;
  }

  /** Whether kube-scheduler waits for that device of the claim, or did. */
  static boolean isAwaited(ResourceClaim claim, String pool, AllocatedDeviceStatus device) {
    return awaited(claim, pool).stream().anyMatch(result -> StatusPatch.isSame(statusOf(result), device));
  }

  /** All entries of the pool in the claim's status, with that said of each device for which kube-scheduler waits. */
  static List<AllocatedDeviceStatus> with(ResourceClaim claim, String pool, DeviceNotes.Note note, Instant now) {
    List<AllocatedDeviceStatus> entries = new ArrayList<>(entries(claim).stream()
        .filter(entry -> Driver.NAME.equals(entry.getDriver()) && pool.equals(entry.getPool())).toList());
    for (DeviceRequestAllocationResult result : awaited(claim, pool)) {
      AllocatedDeviceStatus bare = statusOf(result);
      Optional<AllocatedDeviceStatus> there =
          entries.stream().filter(entry -> StatusPatch.isSame(entry, bare)).findFirst();
      there.ifPresent(entries::remove);
      List<Condition> conditions = new ArrayList<>(there.map(InstanceStatuses::conditions).orElse(List.of()));
      String since = conditions.stream()
          .filter(condition -> note.type().name().equals(condition.getType())
              && note.status().equals(condition.getStatus()))
          .map(Condition::getLastTransitionTime).filter(Objects::nonNull).findFirst()
          .orElse(now.truncatedTo(ChronoUnit.SECONDS).toString());
      conditions.removeIf(condition -> TYPES.contains(condition.getType()));
      conditions.add(new ConditionBuilder().withType(note.type().name()).withStatus(note.status())
          .withReason(note.reason().name()).withMessage(note.message())
          .withLastTransitionTime(since).build());
      entries.add(new AllocatedDeviceStatusBuilder(there.orElse(bare)).withConditions(conditions).build());
    }
    return entries;
  }

  private static List<DeviceRequestAllocationResult> awaited(ResourceClaim claim, String pool) {
    AllocationResult allocation = claim.getStatus() == null ? null : claim.getStatus().getAllocation();
    return allocation == null || allocation.getDevices() == null || allocation.getDevices().getResults() == null
        ? List.of()
        : allocation.getDevices().getResults().stream()
            .filter(result -> InstanceCondition.areAwaited(result) && pool.equals(result.getPool()))
            .toList();
  }

  private static AllocatedDeviceStatus statusOf(DeviceRequestAllocationResult result) {
    return new AllocatedDeviceStatusBuilder().withDriver(result.getDriver()).withPool(result.getPool())
        .withDevice(result.getDevice()).withShareID(result.getShareID()).build();
  }

  private static boolean isTrue(
      ResourceClaim claim,
      DeviceRequestAllocationResult result,
      InstanceCondition condition) {
    return entries(claim).stream().filter(entry -> StatusPatch.isSame(entry, statusOf(result)))
        .flatMap(entry -> conditions(entry).stream())
        .anyMatch(each -> condition.name().equals(each.getType()) && "True".equals(each.getStatus()));
  }

  private static List<AllocatedDeviceStatus> entries(ResourceClaim claim) {
    return claim.getStatus() == null
        ? List.of()
        : Objects.requireNonNullElse(claim.getStatus().getDevices(), List.of());
  }

  private static List<Condition> conditions(AllocatedDeviceStatus entry) {
    return Objects.requireNonNullElse(entry.getConditions(), List.of());
  }
}
