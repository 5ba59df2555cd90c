package dev.partita.controller.claim;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import org.jspecify.annotations.Nullable;

/** A config's parameters as the user wrote them, whatever the client made of them on the way. */
final class OpaqueParameters {
  private static final ObjectMapper MAPPER = JsonMapper.builder().build();

  private OpaqueParameters() {}

  static JsonNode of(@Nullable OpaqueDeviceConfiguration opaque) {
    Object parameters = opaque == null ? null : opaque.getParameters();
    JsonNode tree = MAPPER.valueToTree(parameters);
    // The client takes whatever has apiVersion and kind for a Kubernetes object, and gives it metadata.
    if (parameters instanceof HasMetadata object && tree instanceof ObjectNode fields && isEmpty(object)) {
      fields.remove("metadata");
    }
    return tree;
  }

  private static boolean isEmpty(HasMetadata object) {
    return object.getMetadata() == null || MAPPER.valueToTree(object.getMetadata()).isEmpty();
  }
}
