package dev.partita.plugin.kube;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Reads of a claim's or pod's metadata who it is and the annotations that the plugin reads. Labels, other annotations,
 * finalizers and owners are passed over while they are read: whoever writes claims writes these, and of most there may
 * be as many as an object has room for.
 */
public final class NeededMetadata extends StdDeserializer<ObjectMeta> {
  /**
   * What Kubernetes writes on a claim that it makes from a template (resource.k8s.io/v1, PodResourceClaimAnnotation).
   */
  public static final String POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name";

  private static final Set<String> ANNOTATIONS =
      Set.of(POD_CLAIM_NAME, Driver.GRANTED_SIZES_ANNOTATION, Driver.RESIZE_ANSWER_ANNOTATION);

  /** Whoever reads an annotation that is longer than this takes it for wrong, or its beginning for enough. */
  static final int LONGEST_ANNOTATION = (16 << 10) + 1;

  private static final long serialVersionUID = 1;

  NeededMetadata() {
    super(ObjectMeta.class);
  }

  @Override
  public ObjectMeta deserialize(JsonParser json, DeserializationContext context) throws IOException {
    ObjectMeta metadata = new ObjectMeta();
    if (!json.isExpectedStartObjectToken()) {
      return (ObjectMeta) context.handleUnexpectedToken(ObjectMeta.class, json);
    }
    for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
      json.nextToken();
      switch (field) {
        case "name" -> metadata.setName(json.getValueAsString());
        case "namespace" -> metadata.setNamespace(json.getValueAsString());
        case "uid" -> metadata.setUid(json.getValueAsString());
        case "resourceVersion" -> metadata.setResourceVersion(json.getValueAsString());
        case "annotations" -> metadata.setAnnotations(annotations(json));
        default -> json.skipChildren();
      }
    }
    return metadata;
  }

  private static Map<String, String> annotations(JsonParser json) throws IOException {
    Map<String, String> kept = new LinkedHashMap<>();
    if (!json.isExpectedStartObjectToken()) {
      json.skipChildren();
      return kept;
    }
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      if (json.nextToken() == JsonToken.VALUE_STRING && ANNOTATIONS.contains(name)) {
        String value = json.getText();
        kept.put(name, value.substring(0, Math.min(value.length(), LONGEST_ANNOTATION)));
      } else {
        json.skipChildren();
      }
    }
    return kept;
  }
}
