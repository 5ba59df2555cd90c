package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The annotations of a system that choose cards, by model and by UUID.
 *
 * @param blankIsNone whether a list without a word in it chooses nothing, rather than being wrong
 */
record ChoiceAnnotations(
    String useModels,
    String avoidModels,
    String useUuids,
    String avoidUuids,
    boolean blankIsNone) {
  static final ChoiceAnnotations HAMI =
      new ChoiceAnnotations("nvidia.com/use-gputype", "nvidia.com/nouse-gputype", "nvidia.com/use-gpuuuid",
          "nvidia.com/nouse-gpuuuid", false);

  /** HAMi's for models, its own for UUIDs (volcano-sh/volcano, pkg/scheduler/api/devices/nvidia/vgpu/type.go). */
  static final ChoiceAnnotations VOLCANO =
      new ChoiceAnnotations("nvidia.com/use-gputype", "nvidia.com/nouse-gputype", "volcano.sh/vgpu-use-gpuuuid",
          "volcano.sh/vgpu-nouse-gpuuuid", true);
  static final ChoiceAnnotations VGPU_MANAGER =
      new ChoiceAnnotations("nvidia.com/include-gpu-type", "nvidia.com/exclude-gpu-type",
          "nvidia.com/include-gpu-uuid", "nvidia.com/exclude-gpu-uuid", true);

  /** Which cards may be used; every card where the annotations have something wrong, which is reported. */
  CardChoice cards(PodContext pod, List<FieldError> problems) {
    return pod.once(this, found -> read(pod, found), problems);
  }

  private CardChoice read(PodContext pod, List<FieldError> problems) {
    return new CardChoice(
        models(pod, useModels, problems),
        models(pod, avoidModels, problems),
        words(pod, useUuids, CardChoice::isUuidsFit, problems),
        words(pod, avoidUuids, CardChoice::isUuidsFit, problems));
  }

  private List<String> models(PodContext pod, String annotation, List<FieldError> problems) {
    return lowerCase(words(pod, annotation, words -> CardChoice.isModelsFit(lowerCase(words)), problems));
  }

  private static List<String> lowerCase(List<String> words) {
    return words.stream().map(word -> word.toLowerCase(Locale.ROOT)).toList();
  }

  private List<String> words(
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
    if (words.isEmpty() && blankIsNone) {
      return List.of();
    }
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
