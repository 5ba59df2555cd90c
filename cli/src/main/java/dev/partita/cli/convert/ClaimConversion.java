package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import dev.partita.api.device.CapacityName;
import dev.partita.cli.convert.ClaimDevices.Translated;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * ResourceClaims and ResourceClaimTemplates that ask another DRA driver for cards, to such that ask for ours. All of a
 * claim is converted or nothing of it; what it asks of other drivers stays.
 *
 * <p>A device of NVIDIA's driver is its claim's alone, whatever its config says of sharing: that is how the claim's own
 * pods use it together. So a card is a whole card here.
 */
final class ClaimConversion {
  private static final Set<String> AMOUNTS = Set.of(CapacityName.MEMORY, CapacityName.CORES);
  private static final Set<String> AMOUNTS_OF_INSTANCES =
      Set.of(CapacityName.MEMORY, CapacityName.MULTIPROCESSORS);

  /** Fields of a GpuConfig or a MigDeviceConfig (dra-driver-nvidia-gpu, api/nvidia.com/resource). */
  private static final Set<String> OF_CONFIG = Set.of("apiVersion", "kind", "sharing");
  private static final Set<String> OF_SHARING = Set.of("strategy", "timeSlicingConfig", "mpsConfig");

  /** As administrators name classes of their own of NVIDIA's cards. */
  private static final Pattern LIKE_NVIDIAS = Pattern.compile("(?=.*(gpu|mig)).*[.]nvidia[.]com", Pattern.DOTALL);

  /** As DRA drivers of cards name their classes; administrators' names of classes of ours have no domain. */
  private static final Pattern LIKE_CARDS = Pattern.compile("gpu[.].+[.].+", Pattern.DOTALL);

  private final List<FieldError> problems = new ArrayList<>();
  private final List<FieldError> notes = new ArrayList<>();
  private final List<Translated> translations = new ArrayList<>();
  private final Set<ForeignClass> asked = EnumSet.noneOf(ForeignClass.class);

  private ClaimConversion() {}

  /** @param object of which {@link ClaimDevices#isClaim} is true; not changed */
  static ClaimResult convert(JsonNode object) {
    return new ClaimConversion().result(object);
  }

  private ClaimResult result(JsonNode object) {
    if (!ClaimDevices.hasRequests(object)) {
      boolean known =
          Stream.of("resourceClassName", "deviceClassName").flatMap(field -> object.findValuesAsText(field).stream())
              .anyMatch(name -> ForeignClass.of(name).isPresent());
      return known
          ? new ClaimResult.Refused(List.of(new FieldError("apiVersion", "is " + object.path("apiVersion").asText()
              + ", which no supported Kubernetes serves; write the claim in resource.k8s.io/v1")))
          : new ClaimResult.NothingAsked();
    }
    ClaimDevices claim = ClaimDevices.copyOf(object);
    claim.eachRequest().forEach(this::devices);
    ownClasses(claim);
    for (String driver : asked.stream().map(ForeignClass::driver).distinct().toList()) {
      claim.constraints(driver, translations, (constraint, about) -> constraint(driver, constraint, about));
      claim.takeConfigs(driver, this::config);
    }
    if (asked.isEmpty() && problems.isEmpty()) {
      return new ClaimResult.NothingAsked();
    }
    if (asked.contains(ForeignClass.VGPU_MANAGER_SHARE)) {
      corePolicy(object);
    }
    return problems.isEmpty()
        ? new ClaimResult.Converted(claim.object(), List.copyOf(notes))
        : new ClaimResult.Refused(problems.stream().distinct().toList());
  }

  private void devices(ClaimDevices.Request asking) {
    Optional<ForeignClass> known = ForeignClass.of(asking.className());
    if (known.isEmpty()) {
      return;
    }
    ObjectNode request = asking.fields();
    String path = asking.path();
    asked.add(known.get());
    ClaimDevices.misplaced(asking, problems);
    if (known.get().kind() instanceof ForeignClass.Kind.None(String reason)) {
      problems.add(new FieldError(path + ".deviceClassName", reason));
      return;
    }
    JsonNode amounts = request.path("capacity").path("requests");
    boolean isInstance = known.get().kind() instanceof ForeignClass.Kind.Instance;
    amounts.properties().stream().map(Map.Entry::getKey)
        .filter(name -> !(isInstance ? AMOUNTS_OF_INSTANCES : AMOUNTS).contains(name))
        .forEach(name -> problems.add(new FieldError(path + ".capacity.requests[" + name + "]", isInstance
            ? "has no equal: ask for memory or multiprocessors, by which the smallest instance that will do is taken"
            : "has no equal: ask for memory, and for cores where the time is to be limited")));
    if (known.get().kind() instanceof ForeignClass.Kind.Share && !amounts.has(CapacityName.CORES)) {
      notes.add(new FieldError(path + ".capacity.requests",
          "asks for no cores, which that driver takes for all of a card's, so that no other share with cores is beside it;"
              + " here cores: 100 asks for that"));
    }
    translations.add(new Translated(asking, SelectorTranslation.toOurs(known.get().driver(), known.get().kind())));
    known.get().equal(amounts.has(CapacityName.MEMORY)).ifPresent(name -> request.put("deviceClassName", name));
    ClaimDevices.selectors(request, path, translations.getLast().translation(), problems);
  }

  /**
   * What a class is that somebody made stands in the cluster. Such a class is told by its name, by what else the claim
   * says of its request, or where all of the claim's are unknown by what it says of all.
   */
  private void ownClasses(ClaimDevices claim) {
    List<ClaimDevices.Request> requests = claim.eachRequest();
    List<ClaimDevices.Request> unknown = requests.stream()
        .filter(each -> ForeignClass.of(each.className()).isEmpty() && !isOurs(each.className())).toList();
    List<ClaimDevices.Request> untold = new ArrayList<>();
    for (ClaimDevices.Request each : unknown) {
      Optional<String> driver = LIKE_NVIDIAS.matcher(each.className()).matches()
          ? Optional.of(ForeignClass.NVIDIA_GPU.driver())
          : ForeignClass.driverIn(claim.saidOf(each, unknown));
      driver.ifPresentOrElse(name -> ownClass(each, name), () -> untold.add(each));
    }
    if (unknown.size() < requests.size()) {
      return;
    }
    Optional<String> ofAll =
        untold.size() == unknown.size() ? ForeignClass.driverIn(claim.saidOfAll()) : Optional.empty();
    for (ClaimDevices.Request each : untold) {
      if (ofAll.isPresent()) {
        ownClass(each, ofAll.get());
      } else if (LIKE_CARDS.matcher(each.className()).matches()) {
        problems.add(new FieldError(each.path() + ".deviceClassName", each.className()
            + " looks like a class of GPUs of another DRA driver, and none that is known here has it; "
            + Driver.WHOLE_CLASS + " is a card of ours"));
      }
    }
  }

  private void ownClass(ClaimDevices.Request request, String driver) {
    problems.add(new FieldError(request.path() + ".deviceClassName",
        request.className() + " is a class of your own, of devices of " + driver
            + ": write the driver's class here, with what yours selects, and convert the claim then"));
  }

  /** How its cores are limited, which vgpu-manager reads from the claim's annotations (kubeletplugin/vgpu.go). */
  private void corePolicy(JsonNode object) {
    boolean template = object.path("kind").asText().equals("ResourceClaimTemplate");
    String path = (template ? "spec." : "") + "metadata.annotations";
    (template ? object.path("spec") : object).path("metadata").path("annotations").properties().stream()
        .filter(each -> each.getKey().endsWith("/vgpu-compute-policy") && !each.getValue().asText().isEmpty())
        .forEach(each -> notes.add(new FieldError(path + "[" + each.getKey() + "]",
            "is not read: `coreLimit` in a GpuShareConfig of the claim says Hard, Soft or None")));
  }

  static boolean isOurs(String className) {
    return className.equals(Driver.NAME) || className.endsWith("." + Driver.NAME);
  }

  private void constraint(String driver, ObjectNode constraint, ClaimDevices.Constraint about) {
    about.translated(translations, SelectorTranslation.toOurs(driver, new ForeignClass.Kind.Card())).ifPresentOrElse(
        ours -> constraint.put(about.field(), ours),
        () -> problems.add(new FieldError(about.path(), about.attribute() + " has no equal")));
  }

  private void config(JsonNode parameters, String path) {
    String kind = parameters.path("kind").asText();
    if (!kind.equals("GpuConfig") && !kind.equals("MigDeviceConfig")) {
      problems
          .add(new FieldError(path + ".kind", (kind.isEmpty() ? "a config without a kind" : kind) + " has no equal"));
      return;
    }
    JsonNode sharing = parameters.path("sharing");
    unknown(parameters, OF_CONFIG, path);
    unknown(sharing, OF_SHARING, path + ".sharing");
    switch (sharing.path("strategy").asText()) {
      case "" -> {}
      case "TimeSlicing" -> {
        String interval = sharing.path("timeSlicingConfig").path("interval").asText("Default");
        if (!interval.equals("Default")) {
          notes.add(new FieldError(path + ".sharing.timeSlicingConfig.interval", interval
              + " is left out: the claim's programs have its card in turns of the driver's own length; sharing TimeSlicing"
              + " of class gpu.partita.dev has intervals, on a card that other claims may be on"));
        }
      }
      case "MPS" -> problems.add(new FieldError(path + ".sharing.strategy", mps(sharing.path("mpsConfig"))));
      default -> problems.add(new FieldError(path + ".sharing.strategy",
          "must be TimeSlicing or MPS, not \"" + sharing.path("strategy").asText() + "\""));
    }
  }

  private void unknown(JsonNode fields, Set<String> known, String path) {
    fields.properties().stream().map(Map.Entry::getKey).filter(name -> !known.contains(name))
        .forEach(name -> problems.add(new FieldError(path + "." + name, "is not known here, and has no equal")));
  }

  private static String mps(JsonNode limits) {
    String memory = limits.path("defaultPinnedDeviceMemoryLimit").asText();
    String cores = limits.path("defaultActiveThreadPercentage").asText();
    return "MPS limits every process of a claim alike, and a claim here is limited as a whole: give each container a"
        + " claim of its own of class gpu.partita.dev, with capacity"
        + (memory.isEmpty() ? "" : " memory " + memory)
        + (memory.isEmpty() || cores.isEmpty() ? "" : " and")
        + (cores.isEmpty() ? "" : " cores " + cores)
        + (memory.isEmpty() && cores.isEmpty() ? " memory and cores" : "");
  }
}
