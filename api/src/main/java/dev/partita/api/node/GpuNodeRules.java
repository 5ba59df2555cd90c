package dev.partita.api.node;

import dev.partita.api.Amount;
import dev.partita.api.config.FieldError;
import dev.partita.api.gpu.Gpu;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What must hold of a GpuNode's spec that its schema cannot say. */
public final class GpuNodeRules {
  private GpuNodeRules() {}

  /** What is wrong, all of it; empty if the spec is in order. */
  public static List<FieldError> errors(GpuNodeSpec spec) {
    List<FieldError> errors = new ArrayList<>();
    addTwiceNamed(errors, "spec.publish", spec.publish());
    addTwiceNamed(errors, "spec.withhold", spec.withhold());
    addTwiceNamed(errors, "spec.cordoned", spec.cordoned());
    addTwiceNamed(errors, "spec.evictFrom", spec.evictFrom());
    if (spec.reservedMemory() != null) {
      Amount.problem(spec.reservedMemory())
          .ifPresent(problem -> errors.add(new FieldError("spec.reservedMemory", problem)));
    }
    return errors;
  }

  private static void addTwiceNamed(List<FieldError> errors, String field, List<?> values) {
    Set<Object> seen = new HashSet<>();
    for (int i = 0; i < values.size(); i++) {
      if (!seen.add(values.get(i))) {
        errors.add(new FieldError(field + "[" + i + "]", "is named twice: " + values.get(i)));
      }
    }
  }

  /**
   * What is allowed and still surprising: cards of which nothing is left for shares, and cards to withhold or to cordon
   * that the node does not have.
   */
  public static List<FieldError> warnings(GpuNode node) {
    if (node.getStatus() == null || !errors(node.getSpec()).isEmpty()) {
      return List.of();
    }
    List<FieldError> warnings = new ArrayList<>();
    long reserved = node.getSpec().reservedMemoryBytes();
    for (Gpu gpu : node.getStatus().gpus()) {
      if (reserved > 0 && reserved >= gpu.memoryBytes()) {
        warnings
            .add(new FieldError("spec.reservedMemory", "leaves nothing of gpu-" + gpu.index() + " for shares"));
      }
    }
    Set<String> had = node.getStatus().gpus().stream().map(Gpu::uuid).collect(Collectors.toSet());
    warnings.addAll(notThere("spec.withhold", node.getSpec().withhold(), had));
    warnings.addAll(notThere("spec.cordoned", node.getSpec().cordoned(), had));
    return warnings;
  }

  private static List<FieldError> notThere(String path, List<String> uuids, Set<String> had) {
    List<FieldError> warnings = new ArrayList<>();
    for (int i = 0; i < uuids.size(); i++) {
      if (!had.contains(uuids.get(i))) {
        warnings.add(new FieldError(path + "[" + i + "]", "the node has no card " + uuids.get(i) + " now"));
      }
    }
    return warnings;
  }
}
