package dev.partita.api.node;

import dev.partita.api.Amount;
import dev.partita.api.config.FieldError;
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
    Set<GpuNodeSpec.PublishedMode> seen = new HashSet<>();
    for (int i = 0; i < spec.publish().size(); i++) {
      if (!seen.add(spec.publish().get(i))) {
        errors.add(new FieldError("spec.publish[" + i + "]", "is named twice: " + spec.publish().get(i)));
      }
    }
    errors.addAll(namedTwice("spec.withhold", spec.withhold()));
    errors.addAll(namedTwice("spec.cordoned", spec.cordoned()));
    if (spec.reservedMemory() != null) {
      Amount.problem(spec.reservedMemory())
          .ifPresent(problem -> errors.add(new FieldError("spec.reservedMemory", problem)));
    }
    return errors;
  }

  private static List<FieldError> namedTwice(String path, List<String> uuids) {
    List<FieldError> errors = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < uuids.size(); i++) {
      if (!seen.add(uuids.get(i))) {
        errors.add(new FieldError(path + "[" + i + "]", "is named twice: " + uuids.get(i)));
      }
    }
    return errors;
  }

  /**
   * What is allowed and still surprising: cards of which nothing is left to sell to shares, and cards to withhold or to
   * cordon that the node does not have.
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
            .add(new FieldError("spec.reservedMemory", "leaves nothing of gpu-" + gpu.index() + " to sell to shares"));
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
