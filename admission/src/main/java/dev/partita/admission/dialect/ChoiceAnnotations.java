package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The annotations of a system that choose cards, by model and by UUID.
 *
 * @param blankIsNone whether a list without a word in it chooses nothing, rather than being wrong
 * @param partsOfUuids whether UUIDs are looked for in any case, and as parts
 */
record ChoiceAnnotations(
    String useModels,
    String avoidModels,
    String useUuids,
    String avoidUuids,
    boolean blankIsNone,
    boolean partsOfUuids) {
  static final ChoiceAnnotations HAMI =
      new ChoiceAnnotations("nvidia.com/use-gputype", "nvidia.com/nouse-gputype", "nvidia.com/use-gpuuuid",
          "nvidia.com/nouse-gpuuuid", false, false);

  /** HAMi's for models, its own for UUIDs (volcano-sh/volcano, pkg/scheduler/api/devices/nvidia/vgpu/type.go). */
  static final ChoiceAnnotations VOLCANO =
      new ChoiceAnnotations("nvidia.com/use-gputype", "nvidia.com/nouse-gputype", "volcano.sh/vgpu-use-gpuuuid",
          "volcano.sh/vgpu-nouse-gpuuuid", true, false);

  /** As matchDeviceSelector reads them (coldzerofear/vgpu-manager, pkg/util/util.go). */
  static final ChoiceAnnotations VGPU_MANAGER =
      new ChoiceAnnotations("nvidia.com/include-gpu-type", "nvidia.com/exclude-gpu-type",
          "nvidia.com/include-gpu-uuid", "nvidia.com/exclude-gpu-uuid", true, true);

  /** In lower case, as NVML has it but for the prefix, which may be left out where parts count. */
  private static final Pattern WHOLE_UUID =
      Pattern.compile("(?:gpu-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

  /** Which cards may be used; every card where the annotations have something wrong, which is reported. */
  CardChoice cards(PodContext pod, List<FieldError> problems) {
    return pod.once(this, found -> read(pod, found), problems);
  }

  private CardChoice read(PodContext pod, List<FieldError> problems) {
    return new CardChoice(
        models(pod, useModels, problems),
        models(pod, avoidModels, problems),
        uuids(pod, useUuids, problems),
        uuids(pod, avoidUuids, problems));
  }

  private List<String> models(PodContext pod, String annotation, List<FieldError> problems) {
    return words(pod, annotation, word -> word.toLowerCase(Locale.ROOT), CardChoice::isModelsFit, problems);
  }

  private List<String> uuids(PodContext pod, String annotation, List<FieldError> problems) {
    if (!partsOfUuids) {
      return words(pod, annotation, word -> word, CardChoice::isUuidsFit, problems);
    }
    List<String> uuids =
        words(pod, annotation, word -> whole(word).orElse(word), CardChoice::isUuidsFit, problems);
    Optional<String> part = uuids.stream().filter(uuid -> whole(uuid).isEmpty()).findFirst();
    part.ifPresent(uuid -> problems.add(new FieldError(pod.annotationPath(annotation),
        "names " + PodContext.quoted(uuid) + ", which is no whole UUID of a card; name cards by whole ones")));
    return part.isPresent() ? List.of() : uuids;
  }

  /** The card's UUID as NVML has it; empty if the word is a part of one, or no UUID. */
  private static Optional<String> whole(String word) {
    Matcher uuid = WHOLE_UUID.matcher(word.toLowerCase(Locale.ROOT));
    return uuid.matches() ? Optional.of("GPU-" + uuid.group(1)) : Optional.empty();
  }

  private List<String> words(
      PodContext pod,
      String annotation,
      UnaryOperator<String> as,
      Predicate<List<String>> fits,
      List<FieldError> problems) {
    Optional<String> value = pod.annotation(annotation);
    if (value.isEmpty()) {
      return List.of();
    }
    String path = pod.annotationPath(annotation);
    List<String> words =
        Stream.of(value.get().split(",")).map(String::strip).filter(word -> !word.isEmpty()).map(as).distinct()
            .toList();
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
