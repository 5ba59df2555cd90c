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
 * A request that says {@code exactly}, or an entry of a request's {@code firstAvailable}, which is read as if it did.
 *
 * @param path where it stands in the claim
 * @param name as results name it
 * @param exactly its fields
 */
public record RequestPart(String path, String name, ExactDeviceRequest exactly) {
  public String className() {
    return Objects.requireNonNullElse(exactly.getDeviceClassName(), "");
  }

  /** {@code allocationMode}. */
  Optional<String> mode() {
    return Optional.ofNullable(exactly.getAllocationMode());
  }

  Optional<Long> count() {
    return Optional.ofNullable(exactly.getCount());
  }

  public List<DeviceSelector> selectors() {
    return exactly.getSelectors();
  }

  List<DeviceToleration> tolerations() {
    return exactly.getTolerations();
  }

  boolean adminAccess() {
    return Boolean.TRUE.equals(exactly.getAdminAccess());
  }

  /** The capacities that are asked for, by name. */
  Map<String, Quantity> amounts() {
    return Optional.ofNullable(exactly.getCapacity()).map(CapacityRequirements::getRequests).orElse(Map.of());
  }

  /** Fields that the client's model does not know, in order. */
  Set<String> unknown() {
    return new TreeSet<>(exactly.getAdditionalProperties().keySet());
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
      parts.add(new RequestPart(path + ".exactly", request.getName(), exactly));
    }
    List<DeviceSubRequest> first = Objects.requireNonNullElse(request.getFirstAvailable(), List.of());
    for (int i = 0; i < first.size(); i++) {
      String name = request.getName() + "/" + first.get(i).getName();
      parts.add(new RequestPart(path + ".firstAvailable[" + i + "]", name, exactly(first.get(i))));
    }
    return parts;
  }

  private static ExactDeviceRequest exactly(DeviceSubRequest alternative) {
    ExactDeviceRequest exactly = new ExactDeviceRequest();
    exactly.setDeviceClassName(alternative.getDeviceClassName());
    exactly.setAllocationMode(alternative.getAllocationMode());
    exactly.setCount(alternative.getCount());
    exactly.setSelectors(alternative.getSelectors());
    exactly.setCapacity(alternative.getCapacity());
    exactly.setTolerations(alternative.getTolerations());
    exactly.setAdditionalProperties(alternative.getAdditionalProperties());
    return exactly;
  }
}
