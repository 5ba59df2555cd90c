package dev.partita.controller.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.Driver;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.FieldError;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.GpuShareConfigDecoder;
import dev.partita.api.config.ShareConfigs;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeRules;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaRules;
import dev.partita.controller.claim.RequestRules;
import dev.partita.controller.decode.KeptFields;
import dev.partita.controller.decode.LeftOut;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimSpec;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Says whether an object may be as it is. It judges our driver's opaque configs in claims, templates and classes;
 * requests for our devices; GpuNodes and GpuQuotas; and claims against quotas. An object that was wrong before, and is
 * not changed in that place, may go on: otherwise nobody could delete it.
 */
public final class ObjectReview implements Function<AdmissionRequest, Verdict> {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String RESOURCE_GROUP = "resource.k8s.io";

  /** Most requests and configs of a claim (resource.k8s.io/v1, DeviceRequestsMaxSize and DeviceConfigMaxSize). */
  private static final int MAX_LIST = 32;

  /** Most alternatives of a request (resource.k8s.io/v1, FirstAvailableDeviceRequestMaxSize). */
  private static final int MAX_ALTERNATIVES = 8;

  /** Most bytes of a config's parameters (resource.k8s.io/v1, OpaqueParametersMaxLength). */
  private static final int MAX_PARAMETERS = 10 * 1024;

  private final KubernetesSerialization serialization;
  private final RequestRules requests;
  private final BiFunction<String, ResourceClaim, Optional<String>> quota;

  /**
   * @param requests what is wrong with the requests of claims
   * @param quota why a namespace may not have that claim; empty if it may
   */
  public ObjectReview(
      KubernetesSerialization serialization,
      RequestRules requests,
      BiFunction<String, ResourceClaim, Optional<String>> quota) {
    this.serialization = serialization;
    this.requests = requests;
    this.quota = quota;
  }

  @Override
  public Verdict apply(AdmissionRequest request) {
    boolean written = request.operation().equals("CREATE") || request.operation().equals("UPDATE");
    if (!written || !request.object().isObject() || request.object().path("metadata").hasNonNull("deletionTimestamp")) {
      return Verdict.allowed();
    }
    return switch (request.group() + "/" + request.resource()) {
      case RESOURCE_GROUP + "/resourceclaims" -> claim(request);
      case RESOURCE_GROUP + "/resourceclaimtemplates" ->
          request.operation().equals("CREATE")
              ? template(request.object().path("spec").path("spec"))
              : Verdict.allowed();
      case RESOURCE_GROUP + "/deviceclasses" ->
          isSpecUnchanged(request)
              ? Verdict.allowed()
              : verdict(configs(request.object().path("spec").path("config"), "spec.config"), List.of());
      case Driver.API_GROUP + "/gpunodes" ->
          own(request, GpuNode.class, node -> GpuNodeRules.errors(node.getSpec()), GpuNodeRules::warnings);
      case Driver.API_GROUP + "/gpuquotas" ->
          own(request, GpuQuota.class, given -> GpuQuotaRules.errors(given.getSpec()),
              given -> GpuQuotaRules.warnings(given.getSpec()));
      default -> Verdict.allowed();
    };
  }

  /** A claim's spec never changes, so that only new ones are asked about. */
  private Verdict claim(AdmissionRequest request) {
    if (!request.operation().equals("CREATE")) {
      return Verdict.allowed();
    }
    List<FieldError> errors = ofClaim(request.object().path("spec"), "");
    if (!errors.isEmpty()) {
      return verdict(errors, List.of());
    }
    try {
      return quota
          .apply(request.namespace(), serialization.convertValue(asKept(request.object()), ResourceClaim.class))
          .<Verdict>map(why -> new Verdict.Forbidden(why, List.of()))
          .orElseGet(
              () -> verdict(List.of(), ofOwner(request) ? warnings(request.object().path("spec"), "") : List.of()));
    } catch (IllegalArgumentException | IOException e) {
      return verdict(List.of(unreadable("")), List.of());
    }
  }

  /** A claim as informers will show it. */
  private static JsonNode asKept(JsonNode claim) throws IOException {
    return JSON.readTree(KeptFields.only("ResourceClaim", JSON.writeValueAsBytes(claim)));
  }

  private Verdict template(JsonNode spec) {
    return verdict(ofClaim(spec, "spec."), warnings(spec, "spec."));
  }

  /** Whether a person wrote it: nobody reads what is said of one that was made from a template. */
  private static boolean ofOwner(AdmissionRequest request) {
    return request.object().path("metadata").path("ownerReferences").isEmpty();
  }

  private static Optional<String> warning(GpuShareConfig.Sharing sharing) {
    return switch (sharing) {
      case GpuShareConfig.Sharing.Limits _ -> Optional.empty();
      case GpuShareConfig.Sharing.TimeSlicing _ -> Optional.of(
          "TimeSlicing limits neither memory nor cores: what one claim takes, the others on the card lack");
      case GpuShareConfig.Sharing.Mps _ -> Optional.of(
          "with MPS a fault of one program can end the programs of all claims on the card");
    };
  }

  /** Configs by which what others on the card do can harm the claim. */
  private static List<FieldError> warnings(JsonNode spec, String prefix) {
    List<FieldError> warnings = new ArrayList<>();
    JsonNode configs = spec.path("devices").path("config");
    for (int i = 0; i < configs.size(); i++) {
      JsonNode opaque = configs.path(i).path("opaque");
      if (opaque.path("driver").asText().equals(Driver.NAME)
          && GpuShareConfigDecoder
              .decode(opaque.path("parameters")) instanceof Decoded.Valid<GpuShareConfig>(var config)) {
        String path = prefix + "spec.devices.config[" + i + "].opaque.parameters.sharing.strategy";
        warning(config.sharing()).ifPresent(words -> warnings.add(new FieldError(path, words)));
      }
    }
    return warnings;
  }

  /**
   * All that is wrong with a claim's spec.
   *
   * @param prefix what its path begins with, before {@code spec}
   */
  private List<FieldError> ofClaim(JsonNode spec, String prefix) {
    JsonNode devices = spec.path("devices");
    List<FieldError> errors = new ArrayList<>(configs(devices.path("config"), prefix + "spec.devices.config"));
    if (!isAsServersSend(devices)) {
      if (errors.isEmpty()) {
        errors.add(unreadable(prefix));
      }
    } else if (spec.isObject()) {
      try {
        ResourceClaimSpec read = serialization.convertValue(spec, ResourceClaimSpec.class);
        requests.errors(read)
            .forEach(error -> errors.add(new FieldError(prefix + error.path(), error.problem())));
        if (requests.isOurs(read)) {
          errors.addAll(uncounted(spec, prefix));
        }
      } catch (IllegalArgumentException | IOException e) {
        errors.add(unreadable(prefix));
      }
    }
    return errors;
  }

  /** Without null, and with no more than the API allows: others than API servers may ask as well. */
  private static boolean isAsServersSend(JsonNode devices) {
    JsonNode asked = devices.path("requests");
    JsonNode configs = devices.path("config");
    return asked.size() <= MAX_LIST
        && configs.size() <= MAX_LIST
        && asked.valueStream().allMatch(request -> request.path("firstAvailable").size() <= MAX_ALTERNATIVES)
        && !hasNull(asked)
        && configs.valueStream().noneMatch(config -> config.isNull() || hasNull(config.path("requests"))
            || config.path("opaque").path("parameters").toString().length() > MAX_PARAMETERS);
  }

  private static boolean hasNull(JsonNode tree) {
    return tree.isNull() || tree.valueStream().anyMatch(ObjectReview::hasNull);
  }

  private static FieldError unreadable(String prefix) {
    return new FieldError(prefix + "spec", "cannot be read as that of a ResourceClaim");
  }

  /** What informers will not keep of it: quotas would count nothing in its place. */
  private List<FieldError> uncounted(JsonNode spec, String prefix) throws IOException {
    ResourceClaim kept =
        serialization.convertValue(asKept(JSON.createObjectNode().set("spec", spec)), ResourceClaim.class);
    Set<String> paths = new TreeSet<>(LeftOut.of(kept));
    if (ReviewTree.isCut(spec)) {
      paths.add("spec.devices");
    }
    return paths.stream().map(path -> new FieldError(prefix + path,
        LeftOut.problem(path) + ". Use fewer or shorter selectors and configs beside requests for devices of "
            + Driver.NAME + ", or put what other drivers need into a claim of its own"))
        .toList();
  }

  /** What is wrong with those configs of a list that are for our driver. */
  private static List<FieldError> configs(JsonNode configs, String path) {
    List<FieldError> errors = new ArrayList<>();
    for (int i = 0; i < configs.size(); i++) {
      JsonNode opaque = configs.path(i).path("opaque");
      errors.addAll(
          ShareConfigs.errors(path + "[" + i + "].opaque.parameters", opaque.path("driver").asText(),
              opaque.path("parameters")));
    }
    return errors;
  }

  private <T extends HasMetadata> Verdict own(
      AdmissionRequest request,
      Class<T> type,
      Function<T, List<FieldError>> errors,
      Function<T, List<FieldError>> warnings) {
    if (isSpecUnchanged(request)) {
      return Verdict.allowed();
    }
    T object;
    try {
      object = serialization.convertValue(request.object(), type);
    } catch (IllegalArgumentException e) {
      return verdict(List.of(new FieldError("spec", "cannot be read as a " + type.getSimpleName())), List.of());
    }
    return verdict(errors.apply(object), warnings.apply(object));
  }

  private static boolean isSpecUnchanged(AdmissionRequest request) {
    return request.operation().equals("UPDATE")
        && request.object().path("spec").equals(request.oldObject().path("spec"));
  }

  private static Verdict verdict(List<FieldError> errors, List<FieldError> warnings) {
    List<String> words = warnings.stream().map(FieldError::toString).toList();
    return errors.isEmpty() ? new Verdict.Allowed(words) : new Verdict.Invalid(errors, words);
  }
}
