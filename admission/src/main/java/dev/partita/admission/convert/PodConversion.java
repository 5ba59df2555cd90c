package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.dialect.Dialect;
import dev.partita.admission.dialect.GpuRequest;
import dev.partita.admission.dialect.PodContext;
import dev.partita.admission.dialect.ResourceRequests;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * Turns what a pod asks for by extended resources of other systems into claims. All of a pod is converted or nothing of
 * it.
 *
 * <p>A pod is a JSON tree here, so that fields which this program does not know come through unharmed.
 */
public final class PodConversion {
  private final OptionalLong cardMemory;

  /**
   * @param cardMemory bytes of a card, to make an amount of what is asked for in percent of it; empty: it stays a part
   *        of each card
   */
  public PodConversion(OptionalLong cardMemory) {
    this.cardMemory = cardMemory;
  }

  /**
   * Converts a Pod, or what else has a pod's {@code metadata} and {@code spec}.
   *
   * @param pod is not changed
   * @param path of it in its object, as {@code spec.template}; empty for a Pod
   */
  public Conversion convert(JsonNode pod, String path) {
    String prefix = path.isEmpty() ? "" : path + ".";
    JsonNode spec = pod.path("spec");
    List<FieldError> problems = new ArrayList<>();
    podLevel(spec, prefix, problems);
    List<Found> found = new ArrayList<>();
    for (String kind : List.of("initContainers", "containers")) {
      JsonNode containers = spec.path(kind);
      for (int i = 0; i < containers.size(); i++) {
        JsonNode container = containers.path(i);
        ResourceRequests asked = ResourceRequests.read(container, prefix + "spec." + kind + "[" + i + "]", problems);
        if (!asked.isNothing()) {
          found.add(new Found(kind, i, container, asked));
        }
      }
    }
    if (found.isEmpty()) {
      return problems.isEmpty() ? new Conversion.NothingAsked() : new Conversion.Refused(problems);
    }
    PodContext context = new PodContext(pod.path("metadata"), prefix + "metadata", cardMemory);
    List<ContainerRequest> requests = requests(found, context, problems);
    if (!problems.isEmpty() || !(pod instanceof ObjectNode object)) {
      return new Conversion.Refused(problems);
    }
    return new ClaimedPod(object, prefix).with(requests);
  }

  private record Found(String kind, int index, JsonNode container, ResourceRequests asked) {
    boolean endsFirst() {
      return kind.equals("initContainers") && !container.path("restartPolicy").asText().equals("Always");
    }
  }

  private static void podLevel(JsonNode spec, String prefix, List<FieldError> problems) {
    for (String kind : List.of("limits", "requests")) {
      for (String name : ResourceRequests.namesIn(spec.path("resources").path(kind))) {
        problems.add(
            new FieldError(prefix + "spec.resources." + kind + "[" + name + "]",
                "is not converted: GPUs are asked for by containers, not by the pod"));
      }
    }
  }

  private static List<ContainerRequest> requests(List<Found> found, PodContext context, List<FieldError> problems) {
    Map<Dialect, String> dialects = new EnumMap<>(Dialect.class);
    for (Found container : found) {
      for (String name : container.asked().names()) {
        Dialect dialect = Dialect.of(name).orElseThrow();
        dialects.putIfAbsent(dialect, container.asked().pathOf(name));
        if (!dialect.reader().resources().contains(name)) {
          problems.add(
              new FieldError(
                  container.asked().pathOf(name),
                  "is not converted; of " + dialect.title() + " are converted "
                      + dialect.reader().resources().stream().sorted().collect(Collectors.joining(", "))));
        }
      }
    }
    if (dialects.size() > 1) {
      String ways =
          dialects.entrySet().stream().map(way -> way.getValue() + " (" + way.getKey().title() + ")")
              .collect(Collectors.joining(", "));
      problems.add(new FieldError("", "asks for GPUs in several ways, of which one can be meant: " + ways));
    }
    List<ContainerRequest> requests = new ArrayList<>();
    if (problems.isEmpty()) {
      Dialect dialect = dialects.keySet().iterator().next();
      for (Found each : found) {
        Optional<GpuRequest> request = dialect.reader().read(each.asked(), context, problems);
        request.ifPresent(
            asks -> requests.add(
                new ContainerRequest(
                    each.kind(),
                    each.index(),
                    each.container().path("name").asText(),
                    each.endsFirst(),
                    each.asked(),
                    asks,
                    notes(dialect, each.asked(), asks))));
      }
    }
    // What annotations have wrong is found once for every container.
    List<FieldError> once = problems.stream().distinct().toList();
    problems.clear();
    problems.addAll(once);
    return requests;
  }

  private static List<FieldError> notes(Dialect dialect, ResourceRequests asked, GpuRequest request) {
    List<FieldError> notes = new ArrayList<>(dialect.reader().notes(asked));
    if (request.count() > 1 && request.limitsCores()) {
      notes.add(new FieldError(asked.pathOf(asked.names().iterator().next()), GpuRequest.NOT_ACROSS_CARDS));
    }
    return notes;
  }
}
