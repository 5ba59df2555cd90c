package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Optional;

/** Where the objects of Kubernetes' own workload kinds hold their pod. */
final class PodPath {
  private static final Map<String, String> PATHS =
      Map.of(
          "v1/Pod", "",
          "v1/PodTemplate", "template",
          "v1/ReplicationController", "spec.template",
          "apps/v1/Deployment", "spec.template",
          "apps/v1/StatefulSet", "spec.template",
          "apps/v1/DaemonSet", "spec.template",
          "apps/v1/ReplicaSet", "spec.template",
          "batch/v1/Job", "spec.template",
          "batch/v1/CronJob", "spec.jobTemplate.spec.template");

  private PodPath() {}

  /** The path, as {@code spec.template}, empty for a Pod; nothing if the kind is not known. */
  static Optional<String> of(JsonNode object) {
    return Optional.ofNullable(PATHS.get(object.path("apiVersion").asText() + "/" + object.path("kind").asText()));
  }

  /** The node at a path of field names. */
  static JsonNode at(JsonNode object, String path) {
    JsonNode node = object;
    if (!path.isEmpty()) {
      for (String field : path.split("\\.", -1)) {
        node = node.path(field);
      }
    }
    return node;
  }
}
