package dev.partita.controller.claims;

import dev.partita.api.DeviceAttribute;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.controller.allocate.ClaimAsk.RequestAsk;
import dev.partita.controller.allocate.Constraint;
import dev.partita.controller.allocate.DeviceAsk;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceConstraint;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Reads the constraints of a claim: those that it spells out, and those that its placement requires. */
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
    required(asks, placement -> placement.numa(), DeviceAttribute.NUMA_NODE, constraints);
    required(asks, placement -> placement.nvlink(), DeviceAttribute.NVLINK_DOMAIN, constraints);
    return constraints;
  }

  private static void required(
      List<RequestAsk> asks, Function<GpuShareConfig.Placement, Affinity> kind, String attribute, List<Constraint> constraints) {
    List<String> covered =
        asks.stream()
            .flatMap(ask -> ask.alternatives().stream())
            .filter(ask -> kind.apply(ask.placement()) == Affinity.REQUIRED)
            .map(DeviceAsk::name)
            .toList();
    if (!covered.isEmpty()) {
      constraints.add(new Constraint.Match(attribute, covered));
    }
  }
}
