package dev.partita.controller.claim;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.CapacityRequirements;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSubRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceToleration;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What {@code exactly} and an entry of {@code firstAvailable} have in common.
 *
 * @param path where it stands in the claim
 * @param name as results name it
 * @param unknown fields that the client's model does not know
 */
public record RequestPart(
    String path,
    String name,
    String className,
    Optional<String> mode,
    Optional<Long> count,
    List<DeviceSelector> selectors,
    Optional<CapacityRequirements> capacity,
    List<DeviceToleration> tolerations,
    boolean adminAccess,
    Set<String> unknown) {

  /** The capacities that are asked for, by name. */
  Map<String, Quantity> amounts() {
    return capacity.flatMap(c -> Optional.ofNullable(c.getRequests())).orElse(Map.of());
  }

  /** Whether it is one of several of which any will do. */
  boolean isAlternative() {
    return name.indexOf('/') >= 0; // no request's own name has one
  }

  /** The parts of all requests of a claim. */
  public static List<RequestPart> of(@Nullable ResourceClaimSpec spec) {
    List<DeviceRequest> requests =
        spec == null || spec.getDevices() == null ? List.of() : spec.getDevices().getRequests();
    return IntStream.range(0, requests.size()).boxed().flatMap(i -> of(requests.get(i), i).stream()).toList();
  }

  /** The parts of a request; a request with neither form, which a newer API may allow, gives one that says so. */
  public static List<RequestPart> of(DeviceRequest request, int index) {
    String path = "spec.devices.requests[" + index + "]";
    @Nullable ExactDeviceRequest exactly = request.getExactly();
    List<RequestPart> parts = new ArrayList<>();
    if (exactly != null) {
      parts.add(
          new RequestPart(
              path + ".exactly",
              request.getName(),
              Objects.requireNonNullElse(exactly.getDeviceClassName(), ""),
              Optional.ofNullable(exactly.getAllocationMode()),
              Optional.ofNullable(exactly.getCount()),
              exactly.getSelectors(),
              Optional.ofNullable(exactly.getCapacity()),
              exactly.getTolerations(),
              Boolean.TRUE.equals(exactly.getAdminAccess()),
              new TreeSet<>(exactly.getAdditionalProperties().keySet())));
    }
    List<DeviceSubRequest> first = Objects.requireNonNullElse(request.getFirstAvailable(), List.of());
    for (int i = 0; i < first.size(); i++) {
      DeviceSubRequest sub = first.get(i);
      parts.add(
          new RequestPart(
              path + ".firstAvailable[" + i + "]",
              request.getName() + "/" + sub.getName(),
              Objects.requireNonNullElse(sub.getDeviceClassName(), ""),
              Optional.ofNullable(sub.getAllocationMode()),
              Optional.ofNullable(sub.getCount()),
              sub.getSelectors(),
              Optional.ofNullable(sub.getCapacity()),
              sub.getTolerations(),
              false,
              new TreeSet<>(sub.getAdditionalProperties().keySet())));
    }
    return parts;
  }
}
