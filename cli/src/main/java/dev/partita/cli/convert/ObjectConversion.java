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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Converts the objects of a file, one after the other. A template comes out once in each namespace, before the first
 * object that needs it.
 */
final class ObjectConversion {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String CUSTOM = "is of a CustomResourceDefinition, which must keep resourceClaims in its pods:"
      + " see whether `kubectl apply --dry-run=server -o yaml` still shows them";

  private static final String RAY =
      "no longer says how many GPUs Ray has: KubeRay reads that from the limits, which are"
          + " gone; write num-gpus into rayStartParams unless it is there";

  /** By which Kueue knows what is in its queues. */
  private static final String QUEUE = "kueue.x-k8s.io/queue-name";

  private static final String OF_KUEUE = "is a queue of Kueue's, which starts nothing of a class that it does not know:"
      + " list the class that the claims name in deviceClassMappings of its configuration (docs/how-to/use-kueue.md)";

  private final PodConversion pods;
  private final ConvertTarget target;
  private final Set<String> written = new HashSet<>();
  private final List<String> warnings = new ArrayList<>();
  private final SharedCards shared = new SharedCards();
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
    List<String> all = new ArrayList<>(warnings);
    shared.note((template, note) -> all.add(line(template, note)));
    return all;
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
      return left(object, RequestsOfOurs.in(object)); // pods name their claims, whose names stay
    }
    return PodPath.in(object).map(places -> pods(object, places))
        .orElseGet(() -> unread(object, Set.of(), new Result(List.of(), object)));
  }

  /** All pods of the object are converted, or none: what belongs together asks in one way. */
  private Result pods(JsonNode object, PodPath.Places places) {
    Map<PodPath, ObjectNode> changed = new LinkedHashMap<>();
    List<ClaimTemplate> templates = new ArrayList<>();
    List<FieldError> notes = new ArrayList<>();
    List<FieldError> refused = new ArrayList<>();
    shared.pods(object, places.paths());
    for (PodPath path : places.paths()) {
      switch (pods.convert(path.of(object), path.name(), object)) {
        case Conversion.NothingAsked() -> {}
        case Conversion.Refused(var problems) -> problems.stream().map(path::shown).forEach(refused::add);
        case Conversion.Converted(var pod, var itsTemplates, var itsNotes) -> {
          changed.put(path, pod);
          templates.addAll(itsTemplates);
          itsNotes.stream().map(path::shown).forEach(notes::add);
          if (places.isRay()) {
            notes.add(new FieldError(path.name(), RAY));
          }
        }
      }
    }
    if (!refused.isEmpty()) {
      return left(object, refused);
    }
    if (!templates.isEmpty() && !places.isBuiltIn()) {
      notes.add(new FieldError("spec", CUSTOM));
    }
    if (!templates.isEmpty()) {
      queue(object, places).ifPresent(notes::add);
    }
    notes.forEach(note -> warn(object, note));
    Set<String> known = places.paths().stream().map(PodPath::name).collect(Collectors.toSet());
    return unread(object, known,
        new Result(newOnes(templates, object.path("metadata").path("namespace").asText()),
            PodPath.replacedIn(object, changed)));
  }

  /** What to know where the object, the Jobs that it makes or its pods are in a queue of Kueue's. */
  private static Optional<FieldError> queue(JsonNode object, PodPath.Places places) {
    List<FieldError> found = new ArrayList<>();
    inQueue("", object).ifPresent(found::add);
    inQueue("spec.jobTemplate.", object.path("spec").path("jobTemplate")).ifPresent(found::add);
    places.paths().forEach(path -> inQueue(path.name().isEmpty() ? "" : path.name() + ".", path.of(object))
        .map(path::shown).ifPresent(found::add));
    return found.stream().findFirst();
  }

  private static Optional<FieldError> inQueue(String prefix, JsonNode labelled) {
    return labelled.path("metadata").path("labels").has(QUEUE)
        ? Optional.of(new FieldError(prefix + "metadata.labels[" + QUEUE + "]", OF_KUEUE))
        : Optional.empty();
  }

  private Result claim(JsonNode object) {
    return switch (target == ConvertTarget.PARTITA ? ClaimConversion.convert(object) : NvidiaClaims.convert(object)) {
      case ClaimResult.NothingAsked() -> new Result(List.of(), object);
      case ClaimResult.Refused(var problems) -> left(object, problems);
      case ClaimResult.Converted(var claim, var notes) -> {
        notes.forEach(note -> warn(object, note));
        if (target == ConvertTarget.PARTITA) {
          shared.claim(object);
        }
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
  private Result unread(JsonNode object, Set<String> knownPods, Result result) {
    left(object, UnreadRequests.in(result.object(), knownPods));
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

  private void warn(JsonNode object, FieldError what) {
    warnings.add(line(object, what));
  }

  private static String line(JsonNode object, FieldError what) {
    String namespace = object.path("metadata").path("namespace").asText();
    String name = object.path("metadata").path("name").asText();
    String generated = object.path("metadata").path("generateName").asText();
    String shown = !name.isEmpty() ? name : generated.isEmpty() ? "(no name)" : generated + "*";
    return (object.path("kind").asText() + " " + (namespace.isEmpty() ? "" : namespace + "/") + shown).strip() + ": "
        + what;
  }
}
