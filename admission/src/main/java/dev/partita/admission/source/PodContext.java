package dev.partita.admission.source;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.Excerpt;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * What the pod as a whole says about its GPUs.
 *
 * @param pod the pod or pod template
 * @param prefix of paths in its object, as {@code spec.template.}
 * @param owner the object of which the pod is made, a RayCluster for example; missing if there is none or nothing is
 *        known of it
 * @param cluster where it comes from
 * @param readings what has been read of it
 */
public record PodContext(JsonNode pod, String prefix, JsonNode owner, SourceCluster cluster, Readings readings) {
  /** Of a quoted value so many characters are shown: whoever may make pods makes it as long as a request can be. */
  private static final int MOST_QUOTED = 100;

  /** A context of which nothing has been read. */
  public PodContext(JsonNode pod, String prefix, JsonNode owner, SourceCluster cluster) {
    this(pod, prefix, owner, cluster, new Readings());
  }

  /**
   * What the pod says for all of its containers, of which there may be thousands: it is read for the first one.
   *
   * @param key by which the reading is known again
   * @param reading takes what is to be reported
   * @param problems takes what the reading has reported, each time
   */
  public <T> T once(Object key, Function<List<FieldError>, T> reading, List<FieldError> problems) {
    return readings.of(key, reading, problems);
  }

  /** A value for people, in quotation marks; of a long one the beginning. */
  public static String quoted(String value) {
    return "\"" + Excerpt.of(value, MOST_QUOTED) + "\"";
  }

  /** An annotation with something in it. */
  public Optional<String> annotation(String name) {
    return text("annotations", name);
  }

  /** The names of all annotations, in order. */
  public SortedSet<String> annotations() {
    SortedSet<String> names = new TreeSet<>();
    metadata().path("annotations").properties().forEach(annotation -> names.add(annotation.getKey()));
    return names;
  }

  /** A label with something in it. */
  public Optional<String> label(String name) {
    return text("labels", name);
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

  /** A value as it was read, which is as long as its author likes. */
  private record Text(String field, String name) {}

  private Optional<String> text(String field, String name) {
    return once(new Text(field, name), _ -> text(metadata().path(field), name), new ArrayList<>());
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
