package dev.partita.controller.edge;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A change of single fields of an object (RFC 6902). All of its steps are done in order, or none. */
public final class JsonPatch {
  private static final int UNPROCESSABLE = 422;

  private final List<Map<String, Object>> steps = new ArrayList<>();

  /**
   * Whether the server says that the object is not as the patch takes it for: a test failed, a field that it names is
   * not there (both 422), or the resourceVersion is another by now (409).
   */
  public static boolean isOutdated(KubernetesClientException answer) {
    return answer.getCode() == UNPROCESSABLE || ApiEdge.isConflict(answer);
  }

  /** Fails if the field has another value. */
  public JsonPatch test(String path, Object value) {
    return step("test", path, value);
  }

  /** Sets the field, or inserts into a list. */
  public JsonPatch add(String path, Object value) {
    return step("add", path, value);
  }

  /** Sets a field that is there. Of a resourceVersion: fails with a conflict if the object has another by now. */
  public JsonPatch replace(String path, Object value) {
    return step("replace", path, value);
  }

  /** Removes a field that is there. */
  public JsonPatch remove(String path) {
    steps.add(Map.of("op", "remove", "path", path));
    return this;
  }

  /** The object as the API server has it with this change. */
  public <T extends HasMetadata> T apply(KubernetesClient client, ApiEdge edge, WriteKind what, T object) {
    String patch = client.getKubernetesSerialization().asJson(steps);
    return edge.in(object.getMetadata().getNamespace()).write(what,
        () -> client.resource(named(client, object)).patch(PatchContext.of(PatchType.JSON), patch));
  }

  /** The same for its status. */
  public <T extends HasMetadata> T applyToStatus(KubernetesClient client, ApiEdge edge, WriteKind what, T object) {
    String patch = client.getKubernetesSerialization().asJson(steps);
    return edge.in(object.getMetadata().getNamespace()).write(what,
        () -> client.resource(named(client, object)).subresource("status").patch(PatchContext.of(PatchType.JSON),
            patch));
  }

  /** The object's name, and nothing else of it: the client copies all that it is given, by way of JSON. */
  @SuppressWarnings("unchecked") // an object's class is that of the object
  static <T extends HasMetadata> T named(KubernetesClient client, T object) {
    Map<String, String> name = new HashMap<>();
    name.put("name", object.getMetadata().getName());
    name.put("namespace", object.getMetadata().getNamespace());
    Map<String, Object> named =
        Map.of("apiVersion", object.getApiVersion(), "kind", object.getKind(), "metadata", name);
    return (T) client.getKubernetesSerialization().convertValue(named, object.getClass());
  }

  private JsonPatch step(String operation, String path, Object value) {
    steps.add(Map.of("op", operation, "path", path, "value", value));
    return this;
  }
}
