package dev.partita.admission.webhook;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Makes the JSON Patch (RFC 6902) that turns one pod into another. Elements of lists are compared by their places,
 * which conversion leaves as they are: time and memory grow with the pod's size alone, and whoever may make pods says
 * how large that is. (JSON diffs of libraries compare each element with each: 10,000 containers took more than the
 * controller's heap.)
 */
final class PodPatch {
  private final ArrayNode operations = JsonNodeFactory.instance.arrayNode();

  private PodPatch() {}

  /** The patch; empty if both are the same. */
  static ArrayNode between(JsonNode before, JsonNode after) {
    PodPatch patch = new PodPatch();
    patch.change(JsonPointer.empty(), before, after);
    return patch.operations;
  }

  private void change(JsonPointer at, JsonNode before, JsonNode after) {
    if (before.equals(after)) {
      return;
    }
    if (before instanceof ObjectNode from && after instanceof ObjectNode to) {
      fields(at, from, to);
    } else if (before instanceof ArrayNode from && after instanceof ArrayNode to) {
      elements(at, from, to);
    } else {
      operation("replace", at).set("value", after);
    }
  }

  private void fields(JsonPointer at, ObjectNode before, ObjectNode after) {
    for (var field : before.properties()) {
      JsonPointer path = at.appendProperty(field.getKey());
      JsonNode now = after.path(field.getKey());
      if (now.isMissingNode()) {
        operation("remove", path);
      } else {
        change(path, field.getValue(), now);
      }
    }
    for (var field : after.properties()) {
      if (!before.has(field.getKey())) {
        operation("add", at.appendProperty(field.getKey())).set("value", field.getValue());
      }
    }
  }

  private void elements(JsonPointer at, ArrayNode before, ArrayNode after) {
    int both = Math.min(before.size(), after.size());
    for (int i = 0; i < both; i++) {
      change(at.appendIndex(i), before.path(i), after.path(i));
    }
    for (int i = before.size() - 1; i >= both; i--) {
      operation("remove", at.appendIndex(i));
    }
    for (int i = both; i < after.size(); i++) {
      operation("add", at.appendIndex(i)).set("value", after.path(i));
    }
  }

  private ObjectNode operation(String name, JsonPointer path) {
    return operations.addObject().put("op", name).put("path", path.toString());
  }
}
