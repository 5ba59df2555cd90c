package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The devices of a ResourceClaim or of a ResourceClaimTemplate, of any version that has requests, in v1: other versions
 * are not served by default any more. In v1beta1 requests say in themselves what v1 says under {@code exactly}.
 *
 * @param object a copy in v1, which is changed
 * @param path of the devices in it
 * @param flat which requests said in themselves what is under {@code exactly} now, by their place
 */
record ClaimDevices(ObjectNode object, JsonNode devices, String path, Set<Integer> flat) {
  private static final String API_GROUP = "resource.k8s.io/";
  private static final String FLAT_VERSION = "v1beta1";
  private static final Set<String> VERSIONS = Set.of("v1", FLAT_VERSION, "v1beta2");

  private static final String EXACTLY = "exactly";

  /** What a request of v1 has under {@code exactly} (resource.k8s.io/v1, ExactDeviceRequest). */
  private static final List<String> OF_EXACTLY =
      List.of("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity");

  /** Whether an object is a claim, or a template of one. */
  static boolean isClaim(JsonNode object) {
    return object.path("apiVersion").asText().startsWith(API_GROUP)
        && Set.of("ResourceClaim", "ResourceClaimTemplate").contains(object.path("kind").asText());
  }

  /** Whether it is of a version that has requests. */
  static boolean hasRequests(JsonNode claim) {
    return VERSIONS.contains(claim.path("apiVersion").asText().substring(API_GROUP.length()));
  }

  /** A copy of a claim in v1, to change. */
  static ClaimDevices copyOf(JsonNode claim) {
    ObjectNode copy = claim.deepCopy();
    boolean template = claim.path("kind").asText().equals("ResourceClaimTemplate");
    JsonNode spec = template ? copy.path("spec").path("spec") : copy.path("spec");
    JsonNode devices = spec.path("devices");
    Set<Integer> flat = new HashSet<>();
    for (int i = 0; i < devices.path("requests").size(); i++) {
      if (copy.path("apiVersion").asText().equals(API_GROUP + FLAT_VERSION)
          && devices.path("requests").path(i) instanceof ObjectNode request
          && !request.has(EXACTLY) && !request.has("firstAvailable")) {
        ObjectNode exactly = request.objectNode();
        OF_EXACTLY.stream().filter(request::has).forEach(field -> exactly.set(field, request.remove(field)));
        request.set(EXACTLY, exactly);
        flat.add(i);
      }
    }
    copy.put("apiVersion", API_GROUP + "v1");
    return new ClaimDevices(copy, devices, (template ? "spec.spec" : "spec") + ".devices", Set.copyOf(flat));
  }

  /**
   * A request of a claim, or one of its alternatives: it asks for devices of a class.
   *
   * @param name as constraints name it: of an alternative {@code request/alternative}
   * @param fields its own, of which the class is one
   * @param path of it in the object as it was
   * @param isMisplaced whether it says in itself what its version has under {@code exactly}
   */
  record Request(String name, ObjectNode fields, String path, boolean isMisplaced) {
    String className() {
      return fields.path("deviceClassName").asText();
    }

    /**
     * Whether a constraint is about it: about all requests where it names none, and with one about its alternatives.
     */
    boolean isIn(JsonNode constraint) {
      JsonNode names = constraint.path("requests");
      return names.isEmpty() || StreamSupport.stream(names.spliterator(), false).map(JsonNode::asText)
          .anyMatch(each -> name.equals(each) || name.startsWith(each + "/"));
    }
  }

  /** Whatever names a class: requests, and alternatives in them. */
  List<Request> eachRequest() {
    List<Request> found = new ArrayList<>();
    JsonNode requests = devices.path("requests");
    for (int i = 0; i < requests.size(); i++) {
      JsonNode request = requests.path(i);
      String name = request.path("name").asText();
      String where = path + ".requests[" + i + "]";
      if (request.path(EXACTLY) instanceof ObjectNode exactly) {
        found.add(new Request(name, exactly, where + (flat.contains(i) ? "" : "." + EXACTLY), false));
      }
      if (request instanceof ObjectNode itself && itself.has("deviceClassName")) {
        found.add(new Request(name, itself, where, true));
      }
      JsonNode alternatives = request.path("firstAvailable");
      for (int j = 0; j < alternatives.size(); j++) {
        if (alternatives.path(j) instanceof ObjectNode alternative) {
          found.add(new Request(name + "/" + alternative.path("name").asText(), alternative,
              where + ".firstAvailable[" + j + "]", false));
        }
      }
    }
    return found;
  }

  /**
   * What the claim says of one of these requests alone: the request itself, and constraints and configs that name it
   * and none but these. What is said of others as well may be of their devices only.
   */
  String saidOf(Request request, List<Request> these) {
    return request.fields() + said(each -> request.isIn(each) && !each.path("requests").isEmpty()
        && eachRequest().stream().filter(other -> other.isIn(each)).allMatch(these::contains));
  }

  /** What constraints and configs say of all requests alike. */
  String saidOfAll() {
    return said(each -> each.path("requests").isEmpty());
  }

  private String said(Predicate<JsonNode> ofThese) {
    return Stream.of("constraints", "config").flatMap(list -> devices.path(list).valueStream()).filter(ofThese)
        .map(JsonNode::toString).collect(Collectors.joining());
  }

  /** Reports a request that the API server would not have where it stands. */
  static void misplaced(Request request, List<FieldError> problems) {
    if (request.isMisplaced()) {
      problems.add(new FieldError(request.path() + ".deviceClassName",
          "stands under `exactly` in every version but v1beta1: move what the request asks for there"));
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
          case SelectorTranslation.Selector.Unread() ->
              problems.add(new FieldError(path + ".selectors[" + i + "].cel.expression",
                  "is written in a way that is not translated: device.attributes['%1$s'].<name> would be, and device.driver == '%1$s'"
                      .formatted(translation.from())));
        }
      }
    }
  }

  /**
   * Translates the attribute that each constraint of a driver's devices is about.
   *
   * @param requests those that are translated
   */
  void constraints(String driver, List<Translated> requests, BiConsumer<ObjectNode, Constraint> reader) {
    JsonNode constraints = devices.path("constraints");
    for (int i = 0; i < constraints.size(); i++) {
      for (String field : List.of("matchAttribute", "distinctAttribute")) {
        if (!(constraints.path(i) instanceof ObjectNode constraint)) {
          continue;
        }
        String attribute = constraint.path(field).asText();
        if (attribute.startsWith(driver + "/") || requests.stream().filter(each -> each.request().isIn(constraint))
            .anyMatch(each -> each.translation().isAbout(attribute))) {
          reader.accept(constraint,
              new Constraint(constraint, field, attribute, path + ".constraints[" + i + "]." + field));
        }
      }
    }
  }

  /** A request, and how what is said of its devices is translated. */
  record Translated(Request request, SelectorTranslation translation) {}

  /** What a constraint is about. */
  record Constraint(ObjectNode constraint, String field, String attribute, String path) {
    /**
     * The attribute that means the same for the devices of all requests that it is about, such as the UUID of their
     * card, which cards and MIG instances have by different names; empty if there is none.
     *
     * @param otherwise how it is translated where it is about none of these requests
     */
    Optional<String> translated(List<Translated> requests, SelectorTranslation otherwise) {
      List<SelectorTranslation> of = requests.stream().filter(each -> each.request().isIn(constraint))
          .map(Translated::translation).filter(each -> each.isAbout(attribute)).distinct().toList();
      List<Optional<String>> there = (of.isEmpty() ? List.of(otherwise) : of).stream()
          .map(translation -> translation.attribute(attribute)).distinct().toList();
      return there.size() == 1 ? there.getFirst() : Optional.empty();
    }
  }

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
