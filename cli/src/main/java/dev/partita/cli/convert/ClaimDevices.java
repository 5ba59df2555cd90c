package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The devices of a ResourceClaim or of a ResourceClaimTemplate, in any version that has requests: these are as in v1,
 * or say in themselves what v1 says under {@code exactly}.
 *
 * @param object a copy, which is changed
 * @param path of the devices in it
 */
record ClaimDevices(ObjectNode object, JsonNode devices, String path) {
  private static final String API_GROUP = "resource.k8s.io/";
  private static final Set<String> VERSIONS = Set.of("v1", "v1beta1", "v1beta2");

  /** Whether an object is a claim, or a template of one. */
  static boolean isClaim(JsonNode object) {
    return object.path("apiVersion").asText().startsWith(API_GROUP)
        && Set.of("ResourceClaim", "ResourceClaimTemplate").contains(object.path("kind").asText());
  }

  /** Whether it is of a version that has requests. */
  static boolean hasRequests(JsonNode claim) {
    return VERSIONS.contains(claim.path("apiVersion").asText().substring(API_GROUP.length()));
  }

  /** A copy of a claim, to change. */
  static ClaimDevices copyOf(JsonNode claim) {
    ObjectNode copy = claim.deepCopy();
    boolean template = claim.path("kind").asText().equals("ResourceClaimTemplate");
    JsonNode spec = template ? copy.path("spec").path("spec") : copy.path("spec");
    return new ClaimDevices(copy, spec.path("devices"), (template ? "spec.spec" : "spec") + ".devices");
  }

  /** Hands on whatever names a class, with its path: requests, and alternatives in them. */
  void forEachRequest(BiConsumer<ObjectNode, String> reader) {
    JsonNode requests = devices.path("requests");
    for (int i = 0; i < requests.size(); i++) {
      JsonNode request = requests.path(i);
      String where = path + ".requests[" + i + "]";
      if (request.path("exactly") instanceof ObjectNode exactly) {
        reader.accept(exactly, where + ".exactly");
      }
      if (request instanceof ObjectNode flat && flat.has("deviceClassName")) {
        reader.accept(flat, where);
      }
      JsonNode alternatives = request.path("firstAvailable");
      for (int j = 0; j < alternatives.size(); j++) {
        if (alternatives.path(j) instanceof ObjectNode alternative) {
          reader.accept(alternative, where + ".firstAvailable[" + j + "]");
        }
      }
    }
  }

  /** Translates the selectors of a request. */
  static void selectors(ObjectNode request, String path, SelectorTranslation translation, List<FieldError> problems) {
    JsonNode selectors = request.path("selectors");
    for (int i = 0; i < selectors.size(); i++) {
      if (selectors.path(i).path("cel") instanceof ObjectNode cel) {
        switch (translation.selector(cel.path("expression").asText())) {
          case SelectorTranslation.Selector.Translated(String expression) -> cel.put("expression", expression);
          case SelectorTranslation.Selector.Refused(String name) ->
              problems.add(new FieldError(path + ".selectors[" + i + "].cel.expression",
                  "asks about " + name + ", which devices of " + translation.to() + " have no equal of"));
        }
      }
    }
  }

  /** Translates the attribute that each constraint of a driver's devices is about. */
  void constraints(String driver, BiConsumer<ObjectNode, Constraint> reader) {
    JsonNode constraints = devices.path("constraints");
    for (int i = 0; i < constraints.size(); i++) {
      for (String field : List.of("matchAttribute", "distinctAttribute")) {
        if (constraints.path(i) instanceof ObjectNode constraint
            && constraint.path(field).asText().startsWith(driver + "/")) {
          reader.accept(constraint,
              new Constraint(field, constraint.path(field).asText(), path + ".constraints[" + i + "]." + field));
        }
      }
    }
  }

  /** What a constraint is about. */
  record Constraint(String field, String attribute, String path) {}

  /** Takes the driver's configs out, and hands on each with its path. */
  void takeConfigs(String driver, BiConsumer<JsonNode, String> reader) {
    if (!(devices.path("config") instanceof ArrayNode configs)) {
      return;
    }
    List<Integer> taken = new ArrayList<>();
    for (int i = 0; i < configs.size(); i++) {
      JsonNode opaque = configs.path(i).path("opaque");
      if (opaque.path("driver").asText().equals(driver)) {
        reader.accept(opaque.path("parameters"), path + ".config[" + i + "].opaque.parameters");
        taken.addFirst(i);
      }
    }
    taken.forEach(configs::remove);
    if (configs.isEmpty() && devices instanceof ObjectNode parent) {
      parent.remove("config");
    }
  }
}
