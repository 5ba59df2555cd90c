package dev.partita.admission.dialect;

import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An annotation of a system that says where shares go, and what its values mean here: fields of {@code placement} and
 * their values, none where a value asks for what is so anyway.
 *
 * @param meanings by the annotation's value
 * @param known the values, for people
 * @param values how they are written
 */
record PlacementAnnotations(
    String annotation,
    Map<String, Map<String, String>> meanings,
    String known,
    Values values) {
  /** How a system reads an annotation's value. */
  enum Values {
    ONE, ONE_IN_ANY_CASE,
    /** With commas between them; of two that say something about the same field the first counts. */
    SEVERAL
  }

  /** HAMi's (Project-HAMi/HAMi, pkg/scheduler/policy/gpu_policy.go). */
  static final List<PlacementAnnotations> HAMI =
      List.of(
          new PlacementAnnotations("hami.io/node-scheduler-policy",
              Map.of("binpack", Map.of("nodes", "Binpack"), "spread", Map.of("nodes", "Spread")), "binpack or spread",
              Values.ONE),
          new PlacementAnnotations("hami.io/gpu-scheduler-policy",
              Map.of("binpack", Map.of("gpus", "Binpack"), "spread", Map.of("gpus", "Spread"), "topology-aware",
                  Map.of("nvlink", "Preferred"), "numa", Map.of("numa", "Preferred"), "mutex", Map.of()),
              "binpack, spread, numa, topology-aware or mutex, or several with commas between", Values.SEVERAL),
          new PlacementAnnotations("nvidia.com/numa-bind",
              GoBoolean.meanings(Map.of("numa", "Required"), Map.of()), "true or false", Values.ONE));
  static final List<PlacementAnnotations> VGPU_MANAGER =
      List.of(
          new PlacementAnnotations("nvidia.com/node-scheduler-policy",
              Map.of("binpack", Map.of("nodes", "Binpack"), "spread", Map.of("nodes", "Spread"), "none", Map.of()),
              "binpack, spread or none", Values.ONE_IN_ANY_CASE),
          new PlacementAnnotations("nvidia.com/device-scheduler-policy",
              Map.of("binpack", Map.of("gpus", "Binpack"), "spread", Map.of("gpus", "Spread"), "none", Map.of()),
              "binpack, spread or none", Values.ONE_IN_ANY_CASE),
          new PlacementAnnotations("nvidia.com/device-topology-mode",
              Map.of("none", Map.of(), "numa", Map.of("numa", "Preferred"), "numa-strict", Map.of("numa", "Required"),
                  "link", Map.of("nvlink", "Preferred"), "link-strict", Map.of("nvlink", "Required")),
              "none, numa, numa-strict, link or link-strict", Values.ONE_IN_ANY_CASE));

  /** Fields of {@code placement} and their values, of all these annotations that the pod has. */
  static Map<String, String> of(List<PlacementAnnotations> annotations, PodContext pod, List<FieldError> problems) {
    return pod.once(annotations, found -> read(annotations, pod, found), problems);
  }

  private static Map<String, String> read(
      List<PlacementAnnotations> annotations,
      PodContext pod,
      List<FieldError> problems) {
    Map<String, String> placement = new TreeMap<>();
    for (PlacementAnnotations each : annotations) {
      pod.annotation(each.annotation).ifPresent(value -> each.meaning(value).ifPresentOrElse(placement::putAll,
          () -> problems.add(new FieldError(pod.annotationPath(each.annotation),
              "must be " + each.known + ", not " + PodContext.quoted(value)))));
    }
    return placement;
  }

  /** Empty if a value is not known. */
  private Optional<Map<String, String>> meaning(String value) {
    return switch (values) {
      case ONE -> Optional.ofNullable(meanings.get(value));
      case ONE_IN_ANY_CASE -> Optional.ofNullable(meanings.get(value.toLowerCase(Locale.ROOT)));
      case SEVERAL -> together(value.split(",", -1));
    };
  }

  private Optional<Map<String, String>> together(String[] several) {
    Map<String, String> together = new TreeMap<>();
    for (String one : several) {
      Optional<Map<String, String>> meaning = Optional.ofNullable(meanings.get(one.strip()));
      if (meaning.isEmpty()) {
        return Optional.empty();
      }
      meaning.get().forEach(together::putIfAbsent);
    }
    return Optional.of(together);
  }
}
