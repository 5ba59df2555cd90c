package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A label that the nodes of a pod must have, by its selector or as one way of its affinity.
 *
 * @param path of the field that says so
 * @param operator {@code In}, {@code Exists} or {@code Gt}
 * @param value that the operator is about; empty where it is {@code Exists}
 */
record NodeLabel(String path, String name, String operator, String value) {
  private static final String AFFINITY =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

  /** All labels by which a pod selects its nodes. */
  static List<NodeLabel> of(JsonNode spec) {
    List<NodeLabel> labels = new ArrayList<>();
    spec.path("nodeSelector").properties().forEach(label -> labels.add(new NodeLabel(
        "spec.nodeSelector[" + label.getKey() + "]", label.getKey(), "In", label.getValue().asText())));
    JsonNode terms = spec.path("affinity").path("nodeAffinity").path("requiredDuringSchedulingIgnoredDuringExecution")
        .path("nodeSelectorTerms");
    for (int i = 0; i < terms.size(); i++) {
      JsonNode expressions = terms.path(i).path("matchExpressions");
      for (int j = 0; j < expressions.size(); j++) {
        JsonNode expression = expressions.path(j);
        String name = expression.path("key").asText();
        String operator = expression.path("operator").asText();
        String path = AFFINITY + "[" + i + "].matchExpressions[" + j + "]";
        switch (operator) {
          case "In", "Gt" -> expression.path("values")
              .forEach(value -> labels.add(new NodeLabel(path, name, operator, value.asText())));
          case "Exists" -> labels.add(new NodeLabel(path, name, operator, ""));
          default -> {}
        }
      }
    }
    return labels;
  }
}
