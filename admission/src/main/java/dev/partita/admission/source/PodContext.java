package dev.partita.admission.source;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What the pod as a whole says about its GPUs.
 *
 * @param pod the pod or pod template
 * @param prefix of paths in its object, as {@code spec.template.}
 * @param owner the object of which the pod is made, a RayCluster for example; missing if there is none or nothing is
 *        known of it
 * @param cluster where it comes from
 */
public record PodContext(JsonNode pod, String prefix, JsonNode owner, SourceCluster cluster) {
  /** An annotation with something in it. */
  public Optional<String> annotation(String name) {
    return text(metadata().path("annotations"), name);
  }

  /** The names of all annotations, in order. */
  public SortedSet<String> annotations() {
    SortedSet<String> names = new TreeSet<>();
    metadata().path("annotations").properties().forEach(annotation -> names.add(annotation.getKey()));
    return names;
  }

  /** A label with something in it. */
  public Optional<String> label(String name) {
    return text(metadata().path("labels"), name);
  }

  /** A label of the object of which the pod is made, with something in it. */
  public Optional<String> labelOfOwner(String name) {
    return text(owner.path("metadata").path("labels"), name);
  }

  /** Where a user finds an annotation. */
  public String annotationPath(String name) {
    return prefix + "metadata.annotations[" + name + "]";
  }

  /** Where a user finds a label. */
  public String labelPath(String name) {
    return prefix + "metadata.labels[" + name + "]";
  }

  /** The pod's spec; missing if it has none. */
  public JsonNode spec() {
    return pod.path("spec");
  }

  private JsonNode metadata() {
    return pod.path("metadata");
  }

  private static Optional<String> text(JsonNode texts, String name) {
    JsonNode value = texts.path(name);
    return value.isValueNode() && !value.isNull()
        ? Optional.of(value.asText().strip()).filter(text -> !text.isEmpty())
        : Optional.empty();
  }
}
