package dev.partita.controller.claim;

import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceConstraint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Reads the constraints of a claim: those that it spells out, and those that its placement requires or prefers. */
final class ConstraintReader {
  private ConstraintReader() {}

  static List<Constraint> read(
      List<DeviceConstraint> written,
      List<NamedRequest> requests,
      List<String> problems) {
    List<Constraint> constraints = new ArrayList<>();
    for (int i = 0; i < written.size(); i++) {
      DeviceConstraint constraint = written.get(i);
      if (constraint.getMatchAttribute() != null) {
        constraints.add(new Constraint.Equal(constraint.getMatchAttribute(), constraint.getRequests()));
      } else if (constraint.getDistinctAttribute() != null) {
        constraints.add(new Constraint.Distinct(constraint.getDistinctAttribute(), constraint.getRequests()));
      } else {
        problems.add("spec.devices.constraints[" + i + "]: only matchAttribute and distinctAttribute are supported");
      }
    }
    equal(requests, Placement::numa, Affinity.REQUIRED, DeviceAttribute.NUMA_NODE).ifPresent(constraints::add);
    equal(requests, Placement::nvlink, Affinity.REQUIRED, DeviceAttribute.NVLINK_DOMAIN).ifPresent(constraints::add);
    return constraints;
  }

  /** What the placement of requests for several cards prefers, NVLink first. */
  static List<Constraint> preferences(List<NamedRequest> requests) {
    return Stream.of(
        equal(requests, Placement::nvlink, Affinity.PREFERRED, DeviceAttribute.NVLINK_DOMAIN),
        equal(requests, Placement::numa, Affinity.PREFERRED, DeviceAttribute.NUMA_NODE))
        .flatMap(Optional::stream)
        .filter(preference -> requests.stream().mapToLong(request -> most(request, preference)).sum() > 1)
        .toList();
  }

  private static Optional<Constraint> equal(
      List<NamedRequest> requests,
      Function<Placement, Affinity> kind,
      Affinity affinity,
      DeviceAttribute attribute) {
    List<String> covered =
        requests.stream()
            .flatMap(request -> request.alternatives().stream())
            .filter(alternative -> kind.apply(alternative.placement()) == affinity)
            .map(DeviceRequest::name)
            .toList();
    return covered.isEmpty() ? Optional.empty() : Optional.of(new Constraint.Equal(attribute.key(), covered));
  }

  /** How many devices the request may get that the constraint covers; 2 for all, however many there are. */
  private static int most(NamedRequest request, Constraint constraint) {
    return request.alternatives().stream()
        .filter(alternative -> constraint.covers(alternative.name()))
        .mapToInt(alternative -> alternative.count() instanceof DeviceRequest.Count.Exactly(int devices) ? devices : 2)
        .max()
        .orElse(0);
  }
}
