package dev.partita.admission.dialect;

import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An annotation of a system that says where shares go, and what its values mean here: fields of {@code placement} and
 * their values, none where a value asks for what is so anyway.
 *
 * @param meanings by the annotation's value
 * @param known the values, for people
 */
record PlacementAnnotations(String annotation, Map<String, Map<String, String>> meanings, String known) {
  /** HAMi's, which Volcano's shares read as well. */
  static final List<PlacementAnnotations> HAMI =
      List.of(
          new PlacementAnnotations("hami.io/node-scheduler-policy",
              Map.of("binpack", Map.of("nodes", "Binpack"), "spread", Map.of("nodes", "Spread")), "binpack or spread"),
          new PlacementAnnotations("hami.io/gpu-scheduler-policy",
              Map.of("binpack", Map.of("gpus", "Binpack"), "spread", Map.of("gpus", "Spread"), "topology-aware",
                  Map.of("nvlink", "Preferred")),
              "binpack, spread or topology-aware"),
          new PlacementAnnotations("nvidia.com/numa-bind",
              Map.of("true", Map.of("numa", "Required"), "false", Map.of()), "true or false"));
  static final List<PlacementAnnotations> VGPU_MANAGER =
      List.of(
          new PlacementAnnotations("nvidia.com/node-scheduler-policy",
              Map.of("binpack", Map.of("nodes", "Binpack"), "spread", Map.of("nodes", "Spread"), "none", Map.of()),
              "binpack, spread or none"),
          new PlacementAnnotations("nvidia.com/device-scheduler-policy",
              Map.of("binpack", Map.of("gpus", "Binpack"), "spread", Map.of("gpus", "Spread"), "none", Map.of()),
              "binpack, spread or none"),
          new PlacementAnnotations("nvidia.com/device-topology-mode",
              Map.of("none", Map.of(), "numa", Map.of("numa", "Preferred"), "numa-strict", Map.of("numa", "Required"),
                  "link", Map.of("nvlink", "Preferred"), "link-strict", Map.of("nvlink", "Required")),
              "none, numa, numa-strict, link or link-strict"));

  /** Fields of {@code placement} and their values, of all these annotations that the pod has. */
  static Map<String, String> of(List<PlacementAnnotations> annotations, PodContext pod, List<FieldError> problems) {
    Map<String, String> placement = new TreeMap<>();
    for (PlacementAnnotations each : annotations) {
      Optional<String> value = pod.annotation(each.annotation);
      if (value.isPresent()) {
        Optional<Map<String, String>> meaning = Optional.ofNullable(each.meanings.get(value.get()));
        meaning.ifPresentOrElse(placement::putAll,
            () -> problems.add(new FieldError(pod.annotationPath(each.annotation),
                "must be " + each.known + ", not " + PodContext.quoted(value.get()))));
      }
    }
    return placement;
  }
}
