package dev.partita.admission.webhook;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.Conversion;
import dev.partita.admission.convert.ConvertedRequests;
import dev.partita.admission.convert.PodConversion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.api.Driver;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.FieldError;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Changes pods that are about to be made, and nothing else: it has no side effect, so that a dry run is no special
 * case.
 *
 * <ul> <li>A pod that asks for GPUs in another system's way refers to ResourceClaimTemplates instead, by names that
 * follow from what is asked for. What that is stays on the pod, in the annotation
 * {@link Driver#CONVERTED_REQUESTS_ANNOTATION}, from which the controller makes the templates. <li>A pod that is known
 * to have claims of ours gets the scheduling gate {@link Driver#ALLOCATION_GATE}. Other pods do not: a gate that is
 * missing costs kube-scheduler a vain search, but one too many would hold up another driver's pod for as long as no
 * controller runs. </ul>
 *
 * <p>A pod that has been through here is not changed again.
 */
public final class PodMutation {
  /** Most bytes of all names and values of an object's annotations (apimachinery, TotalAnnotationSizeLimitB). */
  private static final int MOST_ANNOTATIONS = 256 * 1024;

  /**
   * On pods that kubelet makes to show those which it runs from files: they cannot be changed, and cannot have claims.
   */
  private static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

  /**
   * By which a pod asks Volcano 1.15 to hold it back until its queue has room (docs/user-guide,
   * how_to_use_scheduling_gates_queue_admission.md). Volcano takes its gate off when it is the last one, and so would
   * the controller.
   */
  private static final String VOLCANO_QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate";

  private final PodConversion conversion = new PodConversion();
  private final ClaimLookup lookup;

  /**
   * @param lookup asked for claims that the pod names itself
   */
  public PodMutation(ClaimLookup lookup) {
    this.lookup = lookup;
  }

  /**
   * What to do about a pod.
   *
   * @param pod as it is about to be made: not one that is being changed. It is not altered here
   * @param namespace in which it is made; the pod itself need not say
   */
  public PodAnswer mutate(JsonNode pod, String namespace) {
    if (!(pod instanceof ObjectNode object) || !isAsServersSend(pod)
        || pod.path("metadata").path("annotations").has(MIRROR_ANNOTATION)) {
      return unchanged(List.of());
    }
    return switch (conversion.convert(pod, "")) {
      case Conversion.NothingAsked() -> answer(pod, gated(object.deepCopy(), namespace), List.of());
      case Conversion.Refused(List<FieldError> problems) -> refused(problems);
      case Conversion.Converted(ObjectNode claimed, List<ClaimTemplate> templates, List<FieldError> notes) -> {
        Set<GpuRequest> requests = new LinkedHashSet<>(requestsOf(claimed));
        templates.forEach(template -> requests.add(template.request()));
        if (requests.size() > ConvertedRequests.MOST) {
          yield refused(List.of(new FieldError("spec.containers",
              "ask for GPUs in " + requests.size() + " different ways; one pod can have " + ConvertedRequests.MOST)));
        }
        ObjectNode annotations = claimed.withObjectProperty("metadata").withObjectProperty("annotations");
        annotations.put(Driver.CONVERTED_REQUESTS_ANNOTATION, new ConvertedRequests(List.copyOf(requests)).text());
        if (bytes(annotations) > MOST_ANNOTATIONS) {
          yield refused(List.of(new FieldError("metadata.annotations",
              "leave no room for what has to be noted about the GPUs; at most 256 KiB are allowed")));
        }
        yield answer(pod, gated(claimed, namespace), Warnings.of("GPUs asked for by claims now; ", notes));
      }
    };
  }

  /** Whoever reaches the webhook can send anything in the place of a pod. */
  private static boolean isAsServersSend(JsonNode pod) {
    JsonNode metadata = pod.path("metadata");
    JsonNode spec = pod.path("spec");
    return isAbsentOr(JsonNodeType.OBJECT, metadata)
        && isAbsentOr(JsonNodeType.OBJECT, metadata.path("annotations"))
        && isAbsentOr(JsonNodeType.OBJECT, spec)
        && isAbsentOr(JsonNodeType.ARRAY, spec.path("schedulingGates"))
        && Stream.of("initContainers", "containers").map(spec::path).allMatch(
            containers -> isAbsentOr(JsonNodeType.ARRAY, containers)
                && containers.valueStream().allMatch(JsonNode::isObject));
  }

  private static boolean isAbsentOr(JsonNodeType type, JsonNode node) {
    return node.isMissingNode() || node.isNull() || node.getNodeType() == type;
  }

  private static PodAnswer refused(List<FieldError> problems) {
    return unchanged(Warnings.of("GPUs not converted to claims: ", problems));
  }

  private static PodAnswer unchanged(List<String> warnings) {
    return new PodAnswer(JsonNodeFactory.instance.arrayNode(), warnings);
  }

  private static PodAnswer answer(JsonNode before, ObjectNode after, List<String> warnings) {
    return new PodAnswer(PodPatch.between(before, after), warnings);
  }

  /** The pod itself, with the gate if it has claims of ours, is to be scheduled and can have it. */
  private ObjectNode gated(ObjectNode pod, String namespace) {
    JsonNode spec = pod.path("spec");
    boolean hasGate = false;
    for (JsonNode gate : spec.path("schedulingGates")) {
      hasGate |= gate.path("name").asText().equals(Driver.ALLOCATION_GATE);
    }
    boolean queued = pod.path("metadata").path("annotations").path(VOLCANO_QUEUE_GATE).asText().equals("true");
    if (!hasGate && !queued && spec.path("nodeName").asText().isEmpty() && hasClaimsOfOurs(pod, namespace)) {
      ((ObjectNode) spec).withArrayProperty("schedulingGates").addObject().put("name", Driver.ALLOCATION_GATE);
    }
    return pod;
  }

  private boolean hasClaimsOfOurs(ObjectNode pod, String namespace) {
    Set<String> converted =
        requestsOf(pod).stream().map(request -> new ClaimTemplate(request).name()).collect(Collectors.toSet());
    ClaimLookup claims = lookup.forOnePod();
    for (JsonNode claim : pod.path("spec").path("resourceClaims")) {
      String template = claim.path("resourceClaimTemplateName").asText();
      String name = claim.path("resourceClaimName").asText();
      if (!template.isEmpty() && (converted.contains(template) || claims.isOurTemplate(namespace, template))) {
        return true;
      }
      if (!name.isEmpty() && claims.isOurClaim(namespace, name)) {
        return true;
      }
    }
    return false;
  }

  /** What was noted about the pod's claims before, as far as the pod still refers to their templates. */
  private static List<GpuRequest> requestsOf(ObjectNode pod) {
    JsonNode noted = pod.path("metadata").path("annotations").path(Driver.CONVERTED_REQUESTS_ANNOTATION);
    if (!(noted.isTextual() && ConvertedRequests
        .read(noted.textValue()) instanceof Decoded.Valid<ConvertedRequests>(ConvertedRequests read))) {
      return List.of();
    }
    Set<String> referred = new HashSet<>();
    pod.path("spec").path("resourceClaims")
        .forEach(claim -> referred.add(claim.path("resourceClaimTemplateName").asText()));
    return read.requests().stream().filter(request -> referred.contains(new ClaimTemplate(request).name())).toList();
  }

  private static int bytes(ObjectNode annotations) {
    int bytes = 0;
    for (var annotation : annotations.properties()) {
      bytes += annotation.getKey().getBytes(StandardCharsets.UTF_8).length
          + annotation.getValue().asText().getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }
}
