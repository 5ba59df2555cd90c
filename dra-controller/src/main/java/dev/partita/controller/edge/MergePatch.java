package dev.partita.controller.edge;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.HashMap;
import java.util.Map;

/**
 * A change of an object's metadata (RFC 7386) under one version of it. Unlike {@link JsonPatch} it can set an
 * annotation of an object that may or may not have others, and leaves those as they are.
 */
public final class MergePatch {
  private final Map<String, Object> metadata = new HashMap<>();
  private final Map<String, String> annotations = new HashMap<>();

  /** @param version the object's: if it has another by now, the change fails with a conflict */
  public MergePatch(String version) {
    metadata.put("resourceVersion", version);
    metadata.put("annotations", annotations);
  }

  /** Replaces a field of the metadata as a whole. */
  public MergePatch set(String field, Object value) {
    metadata.put(field, value);
    return this;
  }

  /** Sets an annotation. */
  public MergePatch annotate(String name, String value) {
    annotations.put(name, value);
    return this;
  }

  /** The object as the API server has it with this change. */
  public <T extends HasMetadata> T apply(KubernetesClient client, ApiEdge edge, WriteKind what, T object) {
    String patch = client.getKubernetesSerialization().asJson(Map.of("metadata", metadata));
    return edge.in(object.getMetadata().getNamespace()).write(what,
        () -> client.resource(JsonPatch.named(client, object)).patch(PatchContext.of(PatchType.JSON_MERGE), patch));
  }
}
