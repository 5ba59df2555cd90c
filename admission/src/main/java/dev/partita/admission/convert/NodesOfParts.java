package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds that a pod selects nodes on which {@code nvidia.com/gpu} is no whole card, but a part that others share or a
 * MIG instance: its claim would ask for a whole card all the same. For example, {@code nvidia.com/gpu.product} with the
 * value {@code NVIDIA-A100-SXM4-40GB-SHARED}. The labels are those of GKE, and of NVIDIA's GPU feature discovery
 * (README: {@code -SHARED} and {@code -MIG-} in the product).
 */
final class NodesOfParts {
  /** By these a pod asks for whole cards. */
  static final String CARDS = "nvidia.com/gpu";

  private static final String AFFINITY =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

  private static final Set<String> SHARED =
      Set.of("cloud.google.com/gke-gpu-sharing-strategy", "cloud.google.com/gke-max-shared-clients-per-gpu",
          "nvidia.com/gpu.sharing-strategy");

  private static final String PARTITION = "cloud.google.com/gke-gpu-partition-size";
  private static final String PRODUCT = "nvidia.com/gpu.product";

  private NodesOfParts() {}

  /**
   * A label that the pod's nodes must have.
   *
   * @param path of the field that says so
   */
  private record Selected(String path, String label, String value) {}

  /** What to know of the first such label; empty if there is none. */
  static Optional<FieldError> note(JsonNode spec, String prefix) {
    return selected(spec).stream().flatMap(each -> part(each).stream()
        .map(what -> new FieldError(prefix + each.path(),
            "is of nodes on which " + CARDS + " is " + what)))
        .findFirst();
  }

  private static Optional<String> part(Selected selected) {
    if (selected.label().equals(PARTITION)
        || (selected.label().equals(PRODUCT) && selected.value().contains("-MIG-"))) {
      return Optional.of("a MIG instance, and the claim asks for a whole card; nvidia.com/mig-<profile> asks for an"
          + " instance");
    }
    boolean shared = selected.label().equals(PRODUCT)
        ? selected.value().endsWith("-SHARED")
        : SHARED.contains(selected.label()) && !selected.value().equals("none");
    return shared
        ? Optional.of("a part of a card, and the claim asks for a whole one; ask for memory instead")
        : Optional.empty();
  }

  private static List<Selected> selected(JsonNode spec) {
    List<Selected> selected = new ArrayList<>();
    spec.path("nodeSelector").properties().forEach(label -> selected
        .add(new Selected("spec.nodeSelector[" + label.getKey() + "]", label.getKey(), label.getValue().asText())));
    JsonNode terms = spec.path("affinity").path("nodeAffinity").path("requiredDuringSchedulingIgnoredDuringExecution")
        .path("nodeSelectorTerms");
    for (int i = 0; i < terms.size(); i++) {
      JsonNode expressions = terms.path(i).path("matchExpressions");
      for (int j = 0; j < expressions.size(); j++) {
        JsonNode expression = expressions.path(j);
        String path = AFFINITY + "[" + i + "].matchExpressions[" + j + "]";
        if (expression.path("operator").asText().equals("In")) {
          expression.path("values").forEach(
              value -> selected.add(new Selected(path, expression.path("key").asText(), value.asText())));
        }
      }
    }
    return selected;
  }
}
