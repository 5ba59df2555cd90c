package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import dev.partita.api.device.CapacityName;
import dev.partita.cli.convert.ClaimDevices.Translated;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * ResourceClaims and ResourceClaimTemplates that ask us for cards, to such that ask NVIDIA's DRA driver, for who wants
 * to leave. All of a claim is converted or nothing of it.
 */
final class NvidiaClaims {
  private static final String DRIVER = "gpu.nvidia.com";
  private static final String CARD_CLASS = "gpu.nvidia.com";
  private static final String INSTANCE_CLASS = "mig.nvidia.com";

  /** Fields of a GpuShareConfig that name it. */
  private static final Set<String> NAMES = Set.of("apiVersion", "kind");

  private final List<FieldError> problems = new ArrayList<>();
  private final List<FieldError> notes = new ArrayList<>();
  private final List<Translated> translations = new ArrayList<>();
  private boolean asked;

  private NvidiaClaims() {}

  /** @param object of which {@link ClaimDevices#isClaim} is true; not changed */
  static ClaimResult convert(JsonNode object) {
    return ClaimDevices.hasRequests(object) ? new NvidiaClaims().result(object) : new ClaimResult.NothingAsked();
  }

  private ClaimResult result(JsonNode object) {
    ClaimDevices claim = ClaimDevices.copyOf(object);
    claim.eachRequest().forEach(this::devices);
    ownClasses(claim);
    if (!asked) {
      return problems.isEmpty() ? new ClaimResult.NothingAsked() : new ClaimResult.Refused(problems);
    }
    claim.constraints(Driver.NAME, translations, this::constraint);
    claim.takeConfigs(Driver.NAME, this::config);
    return problems.isEmpty()
        ? new ClaimResult.Converted(claim.object(), List.copyOf(notes))
        : new ClaimResult.Refused(problems.stream().distinct().toList());
  }

  /**
   * What a class is that somebody made stands in the cluster; the claim may say that its devices are ours. What it says
   * of all requests counts where it says so of none alone.
   */
  private void ownClasses(ClaimDevices claim) {
    List<ClaimDevices.Request> unknown = claim.eachRequest().stream().filter(
        each -> ForeignClass.of(each.className()).isEmpty() && !ClaimConversion.isOurs(each.className())).toList();
    List<ClaimDevices.Request> told =
        unknown.stream().filter(each -> claim.saidOf(each, unknown).contains(Driver.NAME)).toList();
    boolean all = !asked && told.isEmpty() && claim.saidOfAll().contains(Driver.NAME);
    (all ? unknown : told).forEach(each -> problems.add(new FieldError(each.path() + ".deviceClassName",
        each.className() + " is a class of your own, of devices of " + Driver.NAME
            + ": write Partita's class here, with what yours selects, and convert the claim then")));
  }

  private void devices(ClaimDevices.Request asking) {
    ObjectNode request = asking.fields();
    String path = asking.path();
    String name = asking.className();
    if (!ClaimConversion.isOurs(name)) {
      return;
    }
    asked = true;
    ClaimDevices.misplaced(asking, problems);
    boolean instances = name.equals(Driver.MIG_CLASS);
    if (!instances && !name.equals(Driver.WHOLE_CLASS)) {
      share(request, name, path);
    }
    request.put("deviceClassName", instances ? INSTANCE_CLASS : CARD_CLASS);
    SelectorTranslation translation = SelectorTranslation.fromOurs(DRIVER, instances);
    translations.add(new Translated(asking, translation));
    ClaimDevices.selectors(request, path, translation, problems);
  }

  /** The driver counts memory where it has consumable-shares, and limits nobody to it. */
  private void share(JsonNode request, String name, String path) {
    JsonNode amounts = request.path("capacity").path("requests");
    if (Driver.isOpaqueClass(name) || name.equals(Driver.MIG_SHARE_CLASS)) {
      problems.add(new FieldError(path + ".deviceClassName",
          name.equals(Driver.MIG_SHARE_CLASS)
              ? "is a part of a MIG instance, which that driver hands out as a whole"
              : "is of another vendor's cards, and that driver serves NVIDIA's"));
      return;
    }
    if (!name.equals(Driver.SHARE_CLASS)) {
      problems.add(new FieldError(path + ".deviceClassName",
          "is of one model: write it as class gpu.partita.dev with a selector on productName"));
    }
    if (amounts.has(CapacityName.CORES)) {
      problems.add(new FieldError(path + ".capacity.requests[" + CapacityName.CORES + "]",
          "has no equal: nothing of that driver divides a card's time among claims"));
    }
    if (amounts.has(CapacityName.MEMORY)) {
      notes.add(new FieldError(path + ".capacity.requests[" + CapacityName.MEMORY + "]",
          "is counted where the driver has --consumable-shares=memory, and limits nobody: programs can take what others asked for"));
    } else {
      problems.add(new FieldError(path + ".deviceClassName",
          "is a share of a whole card's memory, beside others; there a card is one claim's: ask for class whole.gpu.partita.dev first"));
    }
  }

  private void constraint(ObjectNode constraint, ClaimDevices.Constraint about) {
    about.translated(translations, SelectorTranslation.fromOurs(DRIVER, false)).ifPresentOrElse(
        theirs -> constraint.put(about.field(), theirs),
        () -> problems.add(new FieldError(about.path(), about.attribute() + " has no equal")));
  }

  private void config(JsonNode parameters, String path) {
    for (Map.Entry<String, JsonNode> field : parameters.properties()) {
      if (!NAMES.contains(field.getKey())) {
        boolean required = field.getValue().toString().contains("Required") || !field.getKey().equals("placement");
        (required ? problems : notes).add(new FieldError(path + "." + field.getKey(),
            required ? "has no equal" : "is left out: kube-scheduler takes the first card that will do"));
      }
    }
  }
}
