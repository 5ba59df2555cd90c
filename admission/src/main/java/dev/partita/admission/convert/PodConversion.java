package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.dialect.Dialect;
import dev.partita.admission.dialect.DialectReader;
import dev.partita.admission.dialect.ResourceRequests;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.source.PodContext;
import dev.partita.admission.source.SourceCluster;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Turns what a pod asks for in another system's way, by extended resources or by annotations, into claims. All of a pod
 * is converted or nothing of it.
 *
 * <p>A pod is a JSON tree here, so that fields which this program does not know come through unharmed.
 */
public final class PodConversion {
  private final SourceCluster cluster;

  /** Of pods of a cluster of which nothing is known. */
  public PodConversion() {
    this(SourceCluster.UNKNOWN);
  }

  /** @param cluster whose pods are converted */
  public PodConversion(SourceCluster cluster) {
    this.cluster = cluster;
  }

  /**
   * Converts a Pod, or what else has a pod's {@code metadata} and {@code spec}.
   *
   * @param pod is not changed
   * @param path of it in its object, as {@code spec.template}; empty for a Pod
   */
  public Conversion convert(JsonNode pod, String path) {
    return convert(pod, path, MissingNode.getInstance());
  }

  /**
   * The same.
   *
   * @param owner the object of which the pod is made: KAI reads its labels, too
   */
  public Conversion convert(JsonNode pod, String path, JsonNode owner) {
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
    PodContext context = new PodContext(pod, prefix, owner, cluster);
    Map<Dialect, String> dialects = dialects(found, context, problems);
    if (dialects.isEmpty()) {
      return problems.isEmpty() ? new Conversion.NothingAsked() : new Conversion.Refused(problems);
    }
    claims(spec, prefix, problems);
    if (dialects.keySet().stream().map(Dialect::title).distinct().count() > 1) {
      String ways =
          dialects.entrySet().stream().map(way -> way.getValue() + " (" + way.getKey().title() + ")")
              .collect(Collectors.joining(", "));
      problems.add(new FieldError("", "asks for GPUs in several ways, of which one can be meant: " + ways));
    }
    if (!problems.isEmpty() || !(pod instanceof ObjectNode object)) {
      return new Conversion.Refused(problems);
    }
    return switch (dialects.keySet().iterator().next().reader()) {
      case DialectReader.OfResources _ -> {
        List<ContainerRequest> requests = requests(found, context, problems);
        yield problems.isEmpty()
            ? new ClaimedPod(object, prefix).with(requests, List.of())
            : new Conversion.Refused(once(problems));
      }
      case DialectReader.OfAnnotations reader -> {
        List<ContainerRequest> requests = requests(reader, context, problems);
        yield problems.isEmpty()
            ? new ClaimedPod(object, prefix).with(requests, reader.asking(context))
            : new Conversion.Refused(once(problems));
      }
    };
  }

  private record Found(String kind, int index, JsonNode container, ResourceRequests asked) {
    boolean endsFirst() {
      return PodConversion.endsFirst(kind, container);
    }

    Stream<Dialect> dialects() {
      return asked.wanted().stream().map(name -> Dialect.of(name).orElseThrow()).distinct();
    }
  }

  private static boolean endsFirst(String kind, JsonNode container) {
    return kind.equals("initContainers") && !container.path("restartPolicy").asText().equals("Always");
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

  /** Claims are put into lists: whoever wrote something else there meant something else. */
  private static void claims(JsonNode spec, String prefix, List<FieldError> problems) {
    list(spec.path("resourceClaims"), prefix + "spec.resourceClaims", problems);
    for (String kind : List.of("initContainers", "containers")) {
      JsonNode containers = spec.path(kind);
      for (int i = 0; i < containers.size(); i++) {
        JsonNode resources = containers.path(i).path("resources");
        String path = prefix + "spec." + kind + "[" + i + "].resources";
        if (!resources.isMissingNode() && !resources.isNull() && !resources.isObject()) {
          problems.add(new FieldError(path, "is no object"));
        }
        list(resources.path("claims"), path + ".claims", problems);
      }
    }
  }

  private static void list(JsonNode value, String path, List<FieldError> problems) {
    if (!value.isMissingNode() && !value.isNull() && !value.isArray()) {
      problems.add(new FieldError(path, "is no list"));
    }
  }

  /** The dialects in which the pod asks, each with the path of what asks in it. */
  private static Map<Dialect, String> dialects(List<Found> found, PodContext pod, List<FieldError> problems) {
    Map<Dialect, String> dialects = new EnumMap<>(Dialect.class);
    for (Found container : found) {
      for (String name : container.asked().wanted()) {
        Dialect dialect = Dialect.of(name).orElseThrow();
        dialects.putIfAbsent(dialect, container.asked().pathOf(name));
        if (dialect.reader() instanceof DialectReader.OfResources reader && !reader.understands(name)) {
          problems.add(
              new FieldError(
                  container.asked().pathOf(name),
                  "is not converted; " + reader.instead(name).orElseGet(() -> "of " + dialect.title()
                      + " are converted " + reader.resources().stream().sorted().collect(Collectors.joining(", ")))));
        }
      }
      if (container.dialects().map(Dialect::title).distinct().count() == 1 && container.dialects().count() > 1) {
        problems.add(new FieldError(container.asked().firstPath(),
            "is one of several ways to ask in one container, whose claim asks for one sort of device: "
                + String.join(", ", container.asked().names())));
      }
    }
    for (Dialect dialect : Dialect.values()) {
      if (dialect.reader() instanceof DialectReader.OfAnnotations reader) {
        SortedSet<String> asking = reader.asking(pod);
        if (!asking.isEmpty()) {
          dialects.put(dialect, pod.annotationPath(asking.first()));
        }
      }
    }
    return dialects;
  }

  private static List<ContainerRequest> requests(
      List<Found> found,
      PodContext pod,
      List<FieldError> problems) {
    List<ContainerRequest> requests = new ArrayList<>();
    for (Found each : found) {
      ResourceRequests asked = each.asked();
      if (!(each.dialects().findFirst().orElseThrow().reader() instanceof DialectReader.OfResources reader)) {
        continue;
      }
      Optional<GpuRequest> request = reader.read(asked, pod, problems);
      request.ifPresent(
          asks -> requests.add(
              new ContainerRequest(
                  each.kind(),
                  each.index(),
                  each.container().path("name").asText(),
                  each.endsFirst(),
                  asked.firstPath(),
                  asked.names(),
                  asks,
                  reader.notes(asked, pod))));
    }
    return requests;
  }

  private static List<ContainerRequest> requests(
      DialectReader.OfAnnotations reader,
      PodContext pod,
      List<FieldError> problems) {
    List<ContainerRequest> requests = new ArrayList<>();
    for (DialectReader.AnnotatedContainer each : reader.read(pod, problems)) {
      JsonNode container = pod.pod().path("spec").path(each.kind()).path(each.index());
      requests.add(new ContainerRequest(each.kind(), each.index(), container.path("name").asText(),
          endsFirst(each.kind(), container), each.path(), List.of(), each.request(), each.notes()));
    }
    return requests;
  }

  /** What annotations have wrong is found once for every container. */
  private static List<FieldError> once(List<FieldError> problems) {
    return problems.stream().distinct().toList();
  }
}
