package dev.partita.admission.dialect;

import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** HAMi's annotations that choose cards and nodes, which Volcano's shares read as well. */
final class ChoiceAnnotations {
  private static final String NODE_POLICY = "hami.io/node-scheduler-policy";
  private static final String GPU_POLICY = "hami.io/gpu-scheduler-policy";
  private static final String NUMA_BIND = "nvidia.com/numa-bind";

  private ChoiceAnnotations() {}

  /** Which cards may be used; every card where the annotations have something wrong, which is reported. */
  static CardChoice cards(PodContext pod, List<FieldError> problems) {
    return new CardChoice(
        models(pod, "nvidia.com/use-gputype", problems),
        models(pod, "nvidia.com/nouse-gputype", problems),
        words(pod, "nvidia.com/use-gpuuuid", CardChoice::isUuidsFit, problems),
        words(pod, "nvidia.com/nouse-gpuuuid", CardChoice::isUuidsFit, problems));
  }

  /** Fields of {@code placement} and their values. */
  static Map<String, String> placement(PodContext pod, List<FieldError> problems) {
    Map<String, String> placement = new TreeMap<>();
    pod.annotation(NODE_POLICY)
        .ifPresent(
            policy -> {
              switch (policy) {
                case "binpack" -> placement.put("nodes", "Binpack");
                case "spread" -> placement.put("nodes", "Spread");
                default -> unknown(pod, NODE_POLICY, policy, "binpack or spread", problems);
              }
            });
    pod.annotation(GPU_POLICY)
        .ifPresent(
            policy -> {
              switch (policy) {
                case "binpack" -> placement.put("gpus", "Binpack");
                case "spread" -> placement.put("gpus", "Spread");
                case "topology-aware" -> placement.put("nvlink", "Preferred");
                default -> unknown(pod, GPU_POLICY, policy, "binpack, spread or topology-aware", problems);
              }
            });
    pod.annotation(NUMA_BIND)
        .ifPresent(
            bind -> {
              switch (bind) {
                case "true" -> placement.put("numa", "Required");
                case "false" -> {}
                default -> unknown(pod, NUMA_BIND, bind, "true or false", problems);
              }
            });
    return placement;
  }

  private static void unknown(
      PodContext pod,
      String annotation,
      String value,
      String known,
      List<FieldError> problems) {
    problems.add(new FieldError(pod.annotationPath(annotation), "must be " + known + ", not \"" + value + "\""));
  }

  private static List<String> models(PodContext pod, String annotation, List<FieldError> problems) {
    return lowerCase(words(pod, annotation, words -> CardChoice.isModelsFit(lowerCase(words)), problems));
  }

  private static List<String> lowerCase(List<String> words) {
    return words.stream().map(word -> word.toLowerCase(Locale.ROOT)).toList();
  }

  private static List<String> words(
      PodContext pod,
      String annotation,
      Predicate<List<String>> fits,
      List<FieldError> problems) {
    Optional<String> value = pod.annotation(annotation);
    if (value.isEmpty()) {
      return List.of();
    }
    String path = pod.annotationPath(annotation);
    List<String> words =
        Stream.of(value.get().split(",")).map(String::strip).filter(word -> !word.isEmpty()).distinct().toList();
    Optional<String> problem =
        words.isEmpty()
            ? Optional.of("names nothing")
            : words.stream().anyMatch(CardChoice::holdsControls)
                ? Optional.of("holds control characters")
                : fits.test(words)
                    ? Optional.empty()
                    : Optional.of("names more than a device selector can hold, which is 10 KiB");
    problem.ifPresent(what -> problems.add(new FieldError(path, what)));
    return problem.isPresent() ? List.of() : words;
  }
}
