package dev.partita.controller.whatif;

import dev.partita.controller.gang.PodGroup;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.JsonProblem;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import dev.partita.controller.decode.KeptFields;
import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.whatif.ClusterSnapshot.Cluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes a snapshot as one JSON document, and reads it. Of pods, nodes and namespaces it has only what the controller
 * reads: neither commands nor environments nor secrets. Claims are as the API has them.
 */
public final class SnapshotFile {
  private static final String KIND = "PartitaSnapshot";
  private static final int VERSION = 1;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final KubernetesSerialization OBJECTS = new KubernetesSerialization(new ObjectMapper(), false);

  private SnapshotFile() {}

  /** Writes it. */
  public static void write(ClusterSnapshot snapshot, OutputStream to) throws IOException {
    ObjectNode document = JSON.createObjectNode();
    document.put("kind", KIND).put("version", VERSION).put("time", snapshot.time().toString());
    Cluster cluster = snapshot.cluster();
    document.set("gpuNodes", kept(cluster.gpuNodes()));
    document.set("nodes", kept(cluster.nodes()));
    document.set("deviceClasses", kept(cluster.deviceClasses()));
    document.set("namespaces", kept(cluster.namespaces()));
    document.set("quotas", kept(cluster.quotas()));
    document.set("taintRules", kept(cluster.taintRules()));
    if (cluster.podGroups().isPresent()) {
      document.set("podGroups", kept(cluster.podGroups().get()));
    }
    ArrayNode published = document.putArray("published");
    new TreeSet<>(cluster.published()).forEach(published::add);
    ArrayNode claims = document.putArray("claims");
    for (ResourceClaim claim : snapshot.claims()) {
      ObjectNode json = (ObjectNode) JSON.readTree(OBJECTS.asJson(claim));
      ((ObjectNode) json.get("metadata")).remove("managedFields");
      claims.add(json);
    }
    document.set("pods", kept(snapshot.pods()));
    JSON.writerWithDefaultPrettyPrinter().writeValue(to, document);
  }

  private static ArrayNode kept(Collection<? extends HasMetadata> objects) throws IOException {
    ArrayNode list = JSON.createArrayNode();
    for (HasMetadata object : objects) {
      byte[] json = OBJECTS.asJson(object).getBytes(StandardCharsets.UTF_8);
      list.add(JSON.readTree(KeptFields.only(object.getKind(), json)));
    }
    return list;
  }

  /**
   * Reads it.
   *
   * @throws IOException if it cannot be read, or is none: the message names the line or the field
   */
  public static ClusterSnapshot read(InputStream from) throws IOException {
    JsonNode document;
    try {
      document = JSON.readTree(from);
    } catch (JsonProcessingException e) {
      String where = e.getLocation() == null ? "" : "line " + e.getLocation().getLineNr() + ": ";
      throw new IOException(where + "is no JSON: " + JsonProblem.words(e), e);
    }
    if (!document.path("kind").asText().equals(KIND)) {
      throw new IOException("kind: is not " + KIND);
    }
    if (document.path("version").asInt() != VERSION) {
      throw new IOException("version: must be " + VERSION + ", not " + document.path("version"));
    }
    return new ClusterSnapshot(
        time(document.path("time").asText()),
        new Cluster(
            list(document, "gpuNodes", GpuNode.class), list(document, "nodes", Node.class),
            list(document, "deviceClasses", DeviceClass.class), list(document, "namespaces", Namespace.class),
            list(document, "quotas", GpuQuota.class), new TreeSet<>(texts(document, "published")),
            document.has("taintRules") ? list(document, "taintRules", DeviceTaintRule.class) : List.of(),
            document.has("podGroups") ? Optional.of(list(document, "podGroups", PodGroup.class)) : Optional.empty()),
        list(document, "claims", ResourceClaim.class),
        list(document, "pods", Pod.class));
  }

  private static Instant time(String text) throws IOException {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw new IOException("time: is no time such as 2026-01-31T12:00:00Z: '" + text + "'", e);
    }
  }

  private static JsonNode array(JsonNode document, String field) throws IOException {
    JsonNode array = document.path(field);
    if (!array.isArray()) {
      throw new IOException(field + (array.isMissingNode() ? ": is missing" : ": is no list"));
    }
    return array;
  }

  private static List<String> texts(JsonNode document, String field) throws IOException {
    List<String> texts = new ArrayList<>();
    for (JsonNode text : array(document, field)) {
      texts.add(text.asText());
    }
    return texts;
  }

  private static <T extends HasMetadata> List<T> list(JsonNode document, String field, Class<T> type)
      throws IOException {
    List<T> objects = new ArrayList<>();
    int index = 0;
    for (JsonNode json : array(document, field)) {
      String where = field + "[" + index++ + "]";
      objects.add(object(json, where, type));
    }
    return objects;
  }

  private static <T extends HasMetadata> T object(JsonNode json, String where, Class<T> type) throws IOException {
    required(json, where, "metadata.name");
    if (type == Pod.class || type == ResourceClaim.class || type == PodGroup.class) {
      required(json, where, "metadata.namespace");
    }
    if (type == Pod.class || type == ResourceClaim.class) {
      required(json, where, "metadata.uid");
    }
    if ((type == Pod.class || type == ResourceClaim.class || type == DeviceClass.class)
        && !json.path("spec").isObject()) {
      throw new IOException(where + ".spec: is missing");
    }
    try {
      return OBJECTS.convertValue(json, type);
    } catch (IllegalArgumentException e) {
      throw new IOException(where + path(e) + ": " + (e.getCause() instanceof JsonProcessingException wrong
          ? JsonProblem.words(wrong)
          : firstLine(e.getMessage())), e);
    }
  }

  private static void required(JsonNode json, String where, String path) throws IOException {
    JsonNode at = json;
    for (String name : path.split("\\.", -1)) {
      at = at.path(name);
    }
    if (!at.isTextual() || at.asText().isEmpty()) {
      throw new IOException(where + "." + path + ": is missing");
    }
  }

  private static String path(Exception e) {
    StringBuilder path = new StringBuilder();
    if (e.getCause() instanceof JsonMappingException wrong) {
      for (JsonMappingException.Reference part : wrong.getPath()) {
        path.append(part.getFieldName() == null ? "[" + part.getIndex() + "]" : "." + part.getFieldName());
      }
    }
    return path.toString();
  }

  private static String firstLine(@Nullable String text) {
    return text == null ? "" : text.lines().findFirst().orElse("");
  }
}
