package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import dev.partita.api.device.CapacityName;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Finds ResourceClaimTemplates whose pods may have had one card together. They had it if their DRA driver was started
 * with {@code --consumable-shares}, as NVIDIA's and vgpu-manager's can be; nothing in a claim tells. By default each
 * pod has a card of its own, and the pods are converted to that. As the flag is a whole cluster's, it is said once.
 */
final class SharedCards {
  /** A ResourceClaimTemplate that asks for a card and for no amount of its memory, and the path of that request. */
  private record Template(JsonNode object, String path) {}

  private final Map<String, Template> templates = new LinkedHashMap<>();
  private final Map<String, Integer> pods = new HashMap<>();

  /** Looks at a claim, or a template of one, as it was. */
  void claim(JsonNode object) {
    if (object.path("kind").asText().equals("ResourceClaimTemplate")) {
      ClaimDevices.copyOf(object).eachRequest().stream()
          .filter(each -> ForeignClass.of(each.className()).map(ForeignClass::kind)
              .filter(ForeignClass.Kind.Card.class::isInstance).isPresent())
          .filter(each -> !each.fields().path("capacity").path("requests").has(CapacityName.MEMORY))
          .filter(each -> !each.fields().path("allocationMode").asText().equals("All")).findFirst()
          .ifPresent(each -> templates.put(key(object, object.path("metadata").path("name").asText()),
              new Template(object, each.path())));
    }
  }

  /** Looks at the pods of an object. */
  void pods(JsonNode object, List<PodPath> paths) {
    for (PodPath path : paths) {
      path.of(object).path("spec").path("resourceClaims").valueStream()
          .map(claim -> key(object, claim.path("resourceClaimTemplateName").asText())).distinct()
          .forEach(template -> pods.merge(template, path.isOfSeveral(object) ? 2 : 1, Integer::sum));
    }
  }

  /** Says of the first such template that several of the pods name, and how many others there are. */
  void note(BiConsumer<JsonNode, FieldError> note) {
    List<Template> shared = shared();
    shared.stream().findFirst().ifPresent(template -> note.accept(template.object(), new FieldError(template.path(),
        "gives each pod cards of its own, and several pods name this template"
            + (shared.size() == 1 ? "" : ", as they do " + (shared.size() - 1) + " more")
            + "; where the DRA driver had --consumable-shares=unlimited or a number, they had them together: ask for memory then")));
  }

  private List<Template> shared() {
    return templates.entrySet().stream().filter(each -> pods.getOrDefault(each.getKey(), 0) > 1)
        .map(Map.Entry::getValue).toList();
  }

  private static String key(JsonNode object, String template) {
    return object.path("metadata").path("namespace").asText() + "/" + template;
  }
}
