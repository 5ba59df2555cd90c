package dev.partita.admission.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the pod as a whole says about its GPUs.
 *
 * @param metadata of the pod or pod template
 * @param path of that metadata, as {@code spec.template.metadata}
 * @param cardMemory bytes of a card, to make an amount of what is asked for in percent of it; empty if not known
 */
public record PodContext(JsonNode metadata, String path, OptionalLong cardMemory) {
  /** An annotation with something in it. */
  Optional<String> annotation(String name) {
    return text("annotations", name);
  }

  /** A label with something in it. */
  Optional<String> label(String name) {
    return text("labels", name);
  }

  String annotationPath(String name) {
    return path + ".annotations[" + name + "]";
  }

  private Optional<String> text(String kind, String name) {
    JsonNode value = metadata.path(kind).path(name);
    return value.isValueNode() && !value.isNull()
        ? Optional.of(value.asText().strip()).filter(text -> !text.isEmpty())
        : Optional.empty();
  }
}
