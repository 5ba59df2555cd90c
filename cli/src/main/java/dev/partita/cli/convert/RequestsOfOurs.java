package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.admission.dialect.Dialect;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What an object asks of Partita other than in a claim, of which who leaves must hear. */
final class RequestsOfOurs {
  private static final String NOT_CONVERTED = "is a class of Partita's, and is not converted but in ResourceClaims and"
      + " ResourceClaimTemplates";

  private final List<FieldError> found = new ArrayList<>();

  private RequestsOfOurs() {}

  /** Looks through an object that is no claim. */
  static List<FieldError> in(JsonNode object) {
    RequestsOfOurs requests = new RequestsOfOurs();
    requests.walk(object, "");
    return requests.found.stream().distinct().toList();
  }

  private void walk(JsonNode node, String path) {
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
      if (!UnreadRequests.LABELLING.contains(field.getKey())) {
        walk(value, where);
      }
    }
  }
}
