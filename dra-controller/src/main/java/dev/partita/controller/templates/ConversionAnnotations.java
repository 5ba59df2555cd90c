package dev.partita.controller.templates;

import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.ConvertedRequests;
import dev.partita.api.Annotations;
import dev.partita.api.Driver;
import dev.partita.api.Excerpt;
import dev.partita.api.config.Decoded;
import dev.partita.controller.lru.LruMap;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Reads the annotation {@code gpu.partita.dev/converted-requests} of pods, which says what templates are to be made for
 * them; once for each version of a pod. Whoever writes pods makes the annotation as long as annotations may be, has one
 * pod name ten thousands of templates, and each of these is looked at. For one thread.
 */
final class ConversionAnnotations {
  private static final int REMEMBERED = 4_096;
  private static final int LONGEST_PROBLEM = 500;

  private final Function<String, Decoded<ConvertedRequests>> reader;
  private final Map<PodVersion, Asked> known = new LruMap<>(REMEMBERED);

  /** A pod as it was written once: a change of the annotation makes another. */
  private record PodVersion(String uid, String resourceVersion) {}

  /**
   * What a pod's annotation asks for.
   *
   * @param names of the templates that are to be made
   * @param problem what is wrong with the annotation
   */
  record Asked(Set<String> names, Optional<String> problem) {
    static final Asked NONE = new Asked(Set.of(), Optional.empty());
  }

  ConversionAnnotations() {
    this(ConvertedRequests::read);
  }

  /** @param reader of an annotation's text */
  ConversionAnnotations(Function<String, Decoded<ConvertedRequests>> reader) {
    this.reader = reader;
  }

  /** What the pod asks for; nothing, if it names more templates than one annotation can ask for. */
  Asked of(Pod pod) {
    return text(pod).isEmpty()
        ? Asked.NONE
        : known.computeIfAbsent(
            new PodVersion(pod.getMetadata().getUid(),
                Objects.requireNonNullElse(pod.getMetadata().getResourceVersion(), "")),
            _ -> read(pod));
  }

  private Asked read(Pod pod) {
    if (namesTooMany(pod)) {
      return Asked.NONE;
    }
    return switch (reader.apply(text(pod).orElseThrow())) {
      case Decoded.Invalid<ConvertedRequests> invalid -> new Asked(Set.of(), Optional.of(shortened(invalid.message())));
      case Decoded.Valid<ConvertedRequests>(ConvertedRequests requests) -> new Asked(
          requests.requests().stream().map(request -> new ClaimTemplate(request).name())
              .collect(Collectors.toUnmodifiableSet()),
          Optional.empty());
    };
  }

  /** Whether the pod has the annotation, and names more templates than one annotation can ask for. */
  static boolean namesTooMany(Pod pod) {
    return text(pod).isPresent() && TemplatePlan.names(pod).size() > ConvertedRequests.MOST;
  }

  /** The template of that name that the pod asks for. */
  Optional<ClaimTemplate> template(Pod pod, String name) {
    return text(pod).map(reader)
        .flatMap(read -> read instanceof Decoded.Valid<ConvertedRequests>(ConvertedRequests requests)
            ? requests.requests().stream().map(ClaimTemplate::new).filter(each -> each.name().equals(name)).findFirst()
            : Optional.empty());
  }

  private static Optional<String> text(Pod pod) {
    return Annotations.value(pod, Driver.CONVERTED_REQUESTS_ANNOTATION);
  }

  private static String shortened(String problem) {
    return Excerpt.of(problem, LONGEST_PROBLEM);
  }
}
