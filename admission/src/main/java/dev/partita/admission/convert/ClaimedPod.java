package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.request.GpuRequest;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes claims into a copy of a pod in the place of the resources that were asked for. */
final class ClaimedPod {
  /** Longest DNS label, which the name of a pod's claim must be. */
  private static final int MAX_NAME = 63;

  /** Of a name so much stays whatever number stands behind it. */
  private static final int KEPT = MAX_NAME - "-2147483647".length();

  private final ObjectNode pod;
  private final String prefix;
  private final Set<String> taken = new HashSet<>();
  private final Map<String, Integer> numbers = new HashMap<>(); // the last one behind names that begin so

  /**
   * @param prefix of paths in the object, as {@code spec.template.}
   */
  ClaimedPod(ObjectNode pod, String prefix) {
    this.pod = pod.deepCopy();
    this.prefix = prefix;
  }

  /**
   * Every container has a claim of its own, except init containers that are over before the others begin: a device
   * plugin hands their devices on, and so they use the claim of a container that asks for the same, or one for all of
   * them.
   *
   * @param annotations that asked for some of them, and go
   */
  Conversion.Converted with(List<ContainerRequest> requests, Collection<String> annotations) {
    if (pod.path("metadata") instanceof ObjectNode metadata && metadata.path("annotations") instanceof ObjectNode given
        && !annotations.isEmpty()) {
      given.remove(annotations);
      if (given.isEmpty()) {
        metadata.remove("annotations");
      }
    }
    ObjectNode spec = (ObjectNode) pod.path("spec");
    spec.path("resourceClaims").forEach(claim -> taken.add(claim.path("name").asText()));
    Map<GpuRequest, String> handedOn = new LinkedHashMap<>();
    Map<GpuRequest, ClaimTemplate> templates = new LinkedHashMap<>();
    List<FieldError> notes = new ArrayList<>();
    List<ContainerRequest> inOrder =
        new ArrayList<>(requests.stream().filter(request -> !request.endsFirst()).toList());
    long own = inOrder.size();
    inOrder.addAll(requests.stream().filter(ContainerRequest::endsFirst).toList());
    boolean one = own == 1 || (own == 0 && inOrder.stream().map(ContainerRequest::request).distinct().count() == 1);
    for (ContainerRequest request : inOrder) {
      String claim = request.endsFirst() ? handedOn.get(request.request()) : null;
      if (claim == null) {
        claim = free(one && templates.isEmpty() ? "gpu" : "gpu-" + request.name());
        ClaimTemplate template = templates.computeIfAbsent(request.request(), ClaimTemplate::new);
        spec.withArrayProperty("resourceClaims").addObject().put("name", claim).put("resourceClaimTemplateName",
            template.name());
        boolean sidecar = request.kind().equals("initContainers") && !request.endsFirst();
        if (!sidecar) {
          handedOn.putIfAbsent(request.request(), claim);
        }
        if (request.endsFirst()) {
          notes.add(new FieldError(request.path(),
              "is had by the pod until it ends, since no other container asks for the same"));
        }
      }
      replace(spec, request, claim);
    }
    requests.forEach(request -> notes.addAll(request.notes()));
    notes.addAll(attention(spec));
    if (requests.stream().anyMatch(ClaimedPod::asksForCards)) {
      NodesOfParts.note(spec, prefix).ifPresent(notes::add);
    }
    notes.addAll(LabelsOfOthers.notes(spec, prefix));
    return new Conversion.Converted(pod, List.copyOf(templates.values()), notes);
  }

  private static boolean asksForCards(ContainerRequest request) {
    return request.request().portion() instanceof GpuRequest.Portion.Whole
        && request.resources().contains(NodesOfParts.CARDS);
  }

  private static void replace(ObjectNode spec, ContainerRequest request, String claim) {
    ObjectNode resources =
        ((ObjectNode) spec.path(request.kind()).path(request.index())).withObjectProperty("resources");
    for (String kind : List.of("limits", "requests")) {
      if (resources.get(kind) instanceof ObjectNode amounts) {
        amounts.remove(request.resources());
        if (amounts.isEmpty()) {
          resources.remove(kind);
        }
      }
    }
    ArrayNode claims = resources.withArrayProperty("claims");
    claims.addObject().put("name", claim);
  }

  /** A number is not tried again: of containers that all have one name there may be thousands. */
  private String free(String wanted) {
    String base = wanted.length() > MAX_NAME ? wanted.substring(0, MAX_NAME) : wanted;
    String name = trimmed(base);
    while (!taken.add(name)) {
      String suffix = "-" + numbers.merge(base.substring(0, Math.min(base.length(), KEPT)), 2, (last, _) -> last + 1);
      name = trimmed(base.substring(0, Math.min(base.length(), MAX_NAME - suffix.length()))) + suffix;
    }
    return name;
  }

  private static String trimmed(String name) {
    int end = name.length();
    while (end > 0 && name.charAt(end - 1) == '-') {
      end--;
    }
    return name.substring(0, end);
  }

  private List<FieldError> attention(JsonNode spec) {
    List<FieldError> notes = new ArrayList<>();
    String runtime = spec.path("runtimeClassName").asText();
    if (runtime.equals("nvidia")) {
      notes.add(
          new FieldError(
              prefix + "spec.runtimeClassName",
              "nvidia is kept; that runtime can show a container more cards than its claim, so leave it out where nothing else needs it"));
    }
    String scheduler = spec.path("schedulerName").asText();
    if (!scheduler.isEmpty() && !scheduler.equals("default-scheduler")) {
      notes.add(new FieldError(prefix + "spec.schedulerName",
          scheduler + " is kept; it must be a scheduler that knows resource claims, as kube-scheduler does"));
    }
    return notes;
  }
}
