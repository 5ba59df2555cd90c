package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A claim in a test's namespace.
 *
 * @param workspace where it is
 * @param name of the claim
 */
public record ClaimUnderTest(Workspace workspace, String name) {
  public Optional<ResourceClaim> find() {
    return Optional.ofNullable(
        workspace.client().resources(ResourceClaim.class).inNamespace(workspace.namespace()).withName(name).get());
  }

  public ResourceClaim get() {
    return find().orElseThrow();
  }

  public String uid() {
    return get().getMetadata().getUid();
  }

  /** The devices that it has; none while it is not allocated. */
  public List<DeviceRequestAllocationResult> devices() {
    return find()
        .map(ResourceClaim::getStatus)
        .map(status -> status.getAllocation())
        .map(allocation -> allocation.getDevices().getResults())
        .orElse(List.of());
  }

  /** What a controller is about to allocate to it, by its annotation; empty if nothing is. */
  public String proposal() {
    return annotation("gpu.partita.dev/proposed-allocation");
  }

  /** An annotation of it; empty if it is not there. */
  public String annotation(String key) {
    return find()
        .map(claim -> claim.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(key))
        .orElse("");
  }

  /** What its owner does by {@code kubectl annotate}. */
  public void annotate(String key, String value) {
    workspace.client().resources(ResourceClaim.class).inNamespace(workspace.namespace()).withName(name).patch(
        PatchContext.of(PatchType.JSON_MERGE),
        "{\"metadata\": {\"annotations\": {\"" + key + "\": \"" + value + "\"}}}");
  }

  /** The data of its first device's status. */
  public String statusData() {
    return String.valueOf(awaitDeviceStatus().getFirst().getData());
  }

  public List<DeviceRequestAllocationResult> awaitAllocated() {
    return await("claim " + name + " to be allocated").atMost(Workspace.PATIENCE).until(this::devices,
        devices -> !devices.isEmpty());
  }

  /** What the driver says of the claim's devices, once it has said it. */
  public List<AllocatedDeviceStatus> awaitDeviceStatus() {
    return await("device status of claim " + name)
        .atMost(Workspace.PATIENCE)
        .until(() -> find().map(ResourceClaim::getStatus).map(s -> s.getDevices()).map(Objects::requireNonNull)
            .orElse(List.of()), devices -> !devices.isEmpty());
  }

  /** Waits until a condition of its first device is there with this reason. */
  public Condition awaitCondition(String type, String reason) {
    return await("condition " + type + " of claim " + name + " to be " + reason)
        .atMost(Workspace.PATIENCE)
        .until(
            () -> awaitDeviceStatus().getFirst().getConditions().stream()
                .filter(condition -> type.equals(condition.getType()) && reason.equals(condition.getReason()))
                .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  public void delete() {
    workspace.client().resources(ResourceClaim.class).inNamespace(workspace.namespace()).withName(name).delete();
  }
}
