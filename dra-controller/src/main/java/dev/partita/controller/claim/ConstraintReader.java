package dev.partita.controller.claim;

import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.request.ClaimRequest.RequestAsk;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceAsk;
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
      List<RequestAsk> asks,
      List<String> problems) {
    List<Constraint> constraints = new ArrayList<>();
    for (int i = 0; i < written.size(); i++) {
      DeviceConstraint constraint = written.get(i);
      if (constraint.getMatchAttribute() != null) {
        constraints.add(new Constraint.Match(constraint.getMatchAttribute(), constraint.getRequests()));
      } else if (constraint.getDistinctAttribute() != null) {
        constraints.add(new Constraint.Distinct(constraint.getDistinctAttribute(), constraint.getRequests()));
      } else {
        problems.add("spec.devices.constraints[" + i + "]: only matchAttribute and distinctAttribute are supported");
      }
    }
    alike(asks, Placement::numa, Affinity.REQUIRED, DeviceAttribute.NUMA_NODE).ifPresent(constraints::add);
    alike(asks, Placement::nvlink, Affinity.REQUIRED, DeviceAttribute.NVLINK_DOMAIN).ifPresent(constraints::add);
    return constraints;
  }

  /** What the placement of requests for several cards prefers, NVLink first. */
  static List<Constraint> preferences(List<RequestAsk> asks) {
    return Stream.of(
        alike(asks, Placement::nvlink, Affinity.PREFERRED, DeviceAttribute.NVLINK_DOMAIN),
        alike(asks, Placement::numa, Affinity.PREFERRED, DeviceAttribute.NUMA_NODE))
        .flatMap(Optional::stream)
        .filter(preference -> asks.stream().mapToInt(ask -> most(ask, preference)).sum() > 1)
        .toList();
  }

  private static Optional<Constraint> alike(
      List<RequestAsk> asks,
      Function<Placement, Affinity> kind,
      Affinity affinity,
      DeviceAttribute attribute) {
    List<String> covered =
        asks.stream()
            .flatMap(ask -> ask.alternatives().stream())
            .filter(ask -> kind.apply(ask.placement()) == affinity)
            .map(DeviceAsk::name)
            .toList();
    return covered.isEmpty() ? Optional.empty() : Optional.of(new Constraint.Match(attribute.key(), covered));
  }

  /** How many devices the request may get that the constraint covers; 2 for all, however many there are. */
  private static int most(RequestAsk request, Constraint constraint) {
    return request.alternatives().stream()
        .filter(ask -> constraint.covers(ask.name()))
        .mapToInt(ask -> ask.count() instanceof DeviceAsk.Count.Exactly(int devices) ? devices : 2)
        .max()
        .orElse(0);
  }
}
