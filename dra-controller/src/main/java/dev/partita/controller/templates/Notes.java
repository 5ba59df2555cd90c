package dev.partita.controller.templates;

import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.ConvertedRequests;
import dev.partita.api.Annotations;
import dev.partita.api.Driver;
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
 * Reads what pods note about their requests, once for each version of a pod. Whoever writes pods makes a note as long
 * as annotations may be, has one pod name ten thousands of templates, and each of these is looked at. For one thread.
 */
final class Notes {
  private static final int REMEMBERED = 4_096;
  private static final int LONGEST_PROBLEM = 500;

  private final Function<String, Decoded<ConvertedRequests>> reader;
  private final Map<Version, Note> notes = new LruMap<>(REMEMBERED);

  private record Version(String uid, String resourceVersion) {}

  /**
   * What a pod notes.
   *
   * @param names of the templates that follow from it
   * @param problem what is wrong with it
   */
  record Note(Set<String> names, Optional<String> problem) {
    static final Note NONE = new Note(Set.of(), Optional.empty());
  }

  Notes() {
    this(ConvertedRequests::read);
  }

  /** @param reader of a note's text */
  Notes(Function<String, Decoded<ConvertedRequests>> reader) {
    this.reader = reader;
  }

  /** The pod's note; none, if it names more templates than follow from any note. */
  Note of(Pod pod) {
    return text(pod).isEmpty()
        ? Note.NONE
        : notes.computeIfAbsent(
            new Version(pod.getMetadata().getUid(),
                Objects.requireNonNullElse(pod.getMetadata().getResourceVersion(), "")),
            _ -> read(pod));
  }

  private Note read(Pod pod) {
    if (namesTooMany(pod)) {
      return Note.NONE;
    }
    return switch (reader.apply(text(pod).orElseThrow())) {
      case Decoded.Invalid<ConvertedRequests> invalid -> new Note(Set.of(), Optional.of(shortened(invalid.message())));
      case Decoded.Valid<ConvertedRequests>(ConvertedRequests requests) -> new Note(
          requests.requests().stream().map(request -> new ClaimTemplate(request).name())
              .collect(Collectors.toUnmodifiableSet()),
          Optional.empty());
    };
  }

  /** Whether the pod has a note and names more templates than follow from any note. */
  static boolean namesTooMany(Pod pod) {
    return text(pod).isPresent() && TemplatePlan.names(pod).size() > ConvertedRequests.MOST;
  }

  /** The template of that name that the pod's note speaks of. */
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
    return problem.length() > LONGEST_PROBLEM ? problem.substring(0, LONGEST_PROBLEM) + "…" : problem;
  }
}
