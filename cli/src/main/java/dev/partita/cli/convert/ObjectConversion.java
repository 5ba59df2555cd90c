package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.Conversion;
import dev.partita.admission.convert.PodConversion;
import dev.partita.api.config.FieldError;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Converts the objects of a file, one after the other. A template comes out once in each namespace, before the first
 * object that needs it.
 */
final class ObjectConversion {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final PodConversion pods;
  private final ConvertTarget target;
  private final Set<String> written = new HashSet<>();
  private final List<String> warnings = new ArrayList<>();
  private boolean leftOut;

  ObjectConversion(PodConversion pods, ConvertTarget target) {
    this.pods = pods;
    this.target = target;
  }

  /**
   * What takes an object's place in the output.
   *
   * @param templates new ones that it needs
   * @param object the same object where nothing was changed
   */
  record Result(List<JsonNode> templates, JsonNode object) {}

  /** Converts an object, or every item of a list. */
  Result convert(JsonNode object) {
    return object.path("kind").asText().endsWith("List") && object.path("items").isArray()
        ? list(object)
        : single(object);
  }

  /** For stderr: what was not converted, and what wants attention, each with the object's name and the field's path. */
  List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** Whether something asks for GPUs and stayed as it was. */
  boolean leftSomethingOut() {
    return leftOut;
  }

  private Result list(JsonNode list) {
    List<JsonNode> templates = new ArrayList<>();
    ObjectNode changed = list.deepCopy();
    var items = changed.withArrayProperty("items");
    boolean any = false;
    for (int i = 0; i < items.size(); i++) {
      JsonNode item = items.path(i);
      // The items of a typed list, such as a PodList, need not say what they are.
      Result result = convert(named(item, list));
      templates.addAll(result.templates());
      if (!result.templates().isEmpty() || !result.object().equals(named(item, list))) {
        any = true;
        items.set(i, result.object());
      }
    }
    return new Result(templates, any ? changed : list);
  }

  private static JsonNode named(JsonNode item, JsonNode list) {
    String kind = list.path("kind").asText();
    if (!item.isObject() || item.has("kind") || kind.equals("List")) {
      return item;
    }
    ObjectNode named = JSON.createObjectNode();
    named.set("apiVersion", list.path("apiVersion"));
    named.put("kind", kind.substring(0, kind.length() - "List".length()));
    named.setAll((ObjectNode) item);
    return named;
  }

  private Result single(JsonNode object) {
    if (ClaimDevices.isClaim(object)) {
      return claim(object);
    }
    if (target == ConvertTarget.NVIDIA_DRA) {
      return new Result(List.of(), object); // pods name their claims, whose names stay
    }
    var path = PodPath.of(object);
    if (path.isEmpty()) {
      return unread(object, false, new Result(List.of(), object));
    }
    return switch (pods.convert(PodPath.at(object, path.get()), path.get())) {
      case Conversion.NothingAsked() -> unread(object, true, new Result(List.of(), object));
      case Conversion.Refused(var problems) -> left(object, problems);
      case Conversion.Converted(var pod, var templates, var notes) -> {
        notes.forEach(note -> warn(object, note));
        String namespace = object.path("metadata").path("namespace").asText();
        yield unread(object, true, new Result(newOnes(templates, namespace), replaced(object, path.get(), pod)));
      }
    };
  }

  private Result claim(JsonNode object) {
    return switch (target == ConvertTarget.PARTITA ? ClaimConversion.convert(object) : NvidiaClaims.convert(object)) {
      case ClaimResult.NothingAsked() -> new Result(List.of(), object);
      case ClaimResult.Refused(var problems) -> left(object, problems);
      case ClaimResult.Converted(var claim, var notes) -> {
        notes.forEach(note -> warn(object, note));
        yield new Result(List.of(), claim);
      }
    };
  }

  private Result left(JsonNode object, List<FieldError> problems) {
    leftOut |= !problems.isEmpty();
    problems.forEach(problem -> warn(object, problem));
    return new Result(List.of(), object);
  }

  /** Whoever has what is asked for in ways that nobody reads should know that it stayed as it was. */
  private Result unread(JsonNode object, boolean podsAreKnown, Result result) {
    left(object, UnreadRequests.in(result.object(), podsAreKnown));
    return result;
  }

  private List<JsonNode> newOnes(List<ClaimTemplate> templates, String namespace) {
    List<JsonNode> ones = new ArrayList<>();
    for (ClaimTemplate template : templates) {
      if (written.add(namespace + "/" + template.name())) {
        ResourceClaimTemplate object = template.object();
        if (!namespace.isEmpty()) {
          object.getMetadata().setNamespace(namespace);
        }
        ones.add(JSON.valueToTree(object));
      }
    }
    return ones;
  }

  private static JsonNode replaced(JsonNode object, String path, ObjectNode pod) {
    if (path.isEmpty()) {
      return pod;
    }
    ObjectNode changed = object.deepCopy();
    int end = path.lastIndexOf('.');
    ((ObjectNode) PodPath.at(changed, end < 0 ? "" : path.substring(0, end))).set(path.substring(end + 1), pod);
    return changed;
  }

  private void warn(JsonNode object, FieldError what) {
    String namespace = object.path("metadata").path("namespace").asText();
    String name = object.path("metadata").path("name").asText();
    String generated = object.path("metadata").path("generateName").asText();
    String shown = !name.isEmpty() ? name : generated.isEmpty() ? "(no name)" : generated + "*";
    warnings
        .add(object.path("kind").asText() + " " + (namespace.isEmpty() ? "" : namespace + "/") + shown + ": " + what);
  }
}
