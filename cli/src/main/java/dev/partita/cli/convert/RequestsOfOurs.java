package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.admission.dialect.Dialect;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Finds what an object asks of Partita other than in a claim: who leaves Partita must change it by hand. */
final class RequestsOfOurs {
  private static final String NOT_CONVERTED = "is a class of Partita's, and is not converted but in ResourceClaims and"
      + " ResourceClaimTemplates";

  private static final String UNCOUNTED = "counts nothing of claims of other classes: name the class that they ask for"
      + " now";

  private final List<FieldError> found = new ArrayList<>();

  private RequestsOfOurs() {}

  /** Looks through an object that is no claim. */
  static List<FieldError> in(JsonNode object) {
    RequestsOfOurs requests = new RequestsOfOurs();
    requests.whole(object);
    requests.walk(object, "");
    return requests.found.stream().distinct().toList();
  }

  private void whole(JsonNode object) {
    String apiVersion = object.path("apiVersion").asText();
    String kind = object.path("kind").asText();
    if (apiVersion.startsWith(Driver.API_GROUP + "/") && kind.equals("GpuQuota")) {
      found.add(
          new FieldError("spec", "counts claims of Partita's classes alone: make a ResourceQuota of it, which counts"
              + " <class>.deviceclass.resource.k8s.io/devices"));
    }
    if (apiVersion.startsWith("resource.k8s.io/") && kind.equals("DeviceClass")
        && !ClaimConversion.isOurs(object.path("metadata").path("name").asText())
        && object.path("spec").toString().contains(Driver.NAME)) {
      found.add(
          new FieldError("spec", "is a class of your own, of devices of " + Driver.NAME + ": make one of devices of "
              + ForeignClass.NVIDIA_GPU.driver() + ", and name that in the claims"));
    }
  }

  private void walk(JsonNode node, String path) {
    if (node.isTextual()) {
      RequestsInText.deviceClass(node.asText(), ClaimConversion::isOurs).ifPresent(name -> found.add(
          new FieldError(path, "names " + name + ", a class of Partita's, in a text, which is not converted")));
    }
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      walk(node.path(i), path + "[" + i + "]");
    }
    for (var field : node.properties()) {
      String where = path.isEmpty() ? field.getKey() : path + "." + field.getKey();
      JsonNode value = field.getValue();
      if (Set.of("limits", "requests").contains(field.getKey())) {
        value.properties().stream().filter(each -> !UnreadRequests.isNone(each.getValue()))
            .filter(each -> Dialect.of(each.getKey()).filter(Dialect.DEVICE_CLASS::equals).isPresent())
            .forEach(each -> found.add(new FieldError(where + "[" + each.getKey() + "]", NOT_CONVERTED)));
      }
      if (field.getKey().equals("deviceClassName") && ClaimConversion.isOurs(value.asText())) {
        found.add(new FieldError(where, NOT_CONVERTED));
      }
      if (UnreadRequests.COUNTS.containsKey(field.getKey())) {
        value.fieldNames().forEachRemaining(name -> {
          if (UnreadRequests.isCountedClass(name, ClaimConversion::isOurs)) {
            found.add(new FieldError(where + "[" + name + "]", UNCOUNTED));
          }
        });
      }
      if (field.getKey().equals("deviceClassNames")) { // Kueue's
        value.forEach(name -> {
          if (ClaimConversion.isOurs(name.asText())) {
            found.add(new FieldError(where + "[" + name.asText() + "]", UNCOUNTED));
          }
        });
      }
      if (!UnreadRequests.LABELLING.contains(field.getKey())) {
        walk(value, where);
      }
    }
  }
}
