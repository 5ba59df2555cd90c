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
 * Finds templates by which several pods had a card together if their driver was told so ({@code --consumable-shares} of
 * NVIDIA's and of vgpu-manager's, off unless it is set). Nothing in a claim tells: by default each pod has a card of
 * its own, and the pods are converted to that. As it holds of a whole cluster, it is said once.
 */
final class SharedCards {
  /** A template that asks for a card without an amount of its memory, and where it does. */
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
