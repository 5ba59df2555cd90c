package dev.partita.controller.claim;

import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Finds the fields of a claim's configs that only the controller honours. kube-scheduler reads no configs, so it would
 * not keep to them.
 */
public final class ControllerOnlyFields {
  private ControllerOnlyFields() {}

  /** The fields of GpuShareConfig, in order of name; what is only preferred is none of them. */
  public static SortedSet<String> fields(Collection<ClaimRequest> claims) {
    SortedSet<String> fields = new TreeSet<>();
    for (ClaimRequest claim : claims) {
      List<DeviceRequest> alternatives =
          claim.requests().stream().flatMap(request -> request.alternatives().stream()).toList();
      boolean several =
          claim.requests().size() > 1 || alternatives.stream().anyMatch(ControllerOnlyFields::isForSeveral);
      alternatives.forEach(alternative -> add(alternative, several, fields));
    }
    return fields;
  }

  private static void add(DeviceRequest request, boolean several, SortedSet<String> fields) {
    Placement placement = request.placement();
    if (request.memory() instanceof MemoryRequest.Percent) {
      fields.add("memoryPercent");
    }
    request.strategyOfShare().fieldUnknownToScheduler(!request.memory().isSaid())
        .ifPresent(field -> fields.add(field));
    if (!placement.models().isAny()) {
      fields.add("placement.models");
    }
    if (!placement.uuids().isAny()) {
      fields.add("placement.uuids");
    }
    if (several && placement.numa() == Affinity.REQUIRED) {
      fields.add("placement.numa");
    }
    if (several && placement.nvlink() == Affinity.REQUIRED) {
      fields.add("placement.nvlink");
    }
  }

  private static boolean isForSeveral(DeviceRequest request) {
    return !(request.count() instanceof DeviceRequest.Count.Exactly(int devices) && devices == 1);
  }
}
