package dev.partita.controller.unconverted;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.admission.convert.Conversion;
import dev.partita.admission.convert.PodConversion;
import dev.partita.admission.dialect.Dialect;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A pod that kube-scheduler finds no node for, and that asks for GPUs by the resources of another system. */
final class UnconvertedPod {
  /**
   * With the value {@code disabled}, on a pod or its namespace: admission leaves it alone (the chart's webhook
   * configuration).
   */
  private static final String ADMISSION_LABEL = Driver.NAME + "/admission";

  private UnconvertedPod() {}

  /** Whether admission is told to leave pods with these labels, or in a namespace with them, as they are. */
  static boolean isLeftAlone(ObjectMeta labelled) {
    return labelled.getLabels() != null && "disabled".equals(labelled.getLabels().get(ADMISSION_LABEL));
  }

  /**
   * GPU resources that the pod waits for in vain.
   *
   * @param offered whether there is a node that has some of a resource
   * @return empty if it has a node, was not looked at yet, or waits for something else
   */
  static Collection<String> missing(Pod pod, Predicate<String> offered) {
    if (pod.getSpec().getNodeName() != null || pod.getMetadata().getDeletionTimestamp() != null
        || !isUnschedulable(pod)) {
      return List.of();
    }
    return Stream.concat(pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
        .map(Container::getResources)
        .filter(resources -> resources != null)
        .flatMap(resources -> Stream.of(resources.getLimits(), resources.getRequests()))
        .filter(amounts -> amounts != null)
        .map(Map::keySet)
        .flatMap(Collection::stream)
        .filter(name -> Dialect.of(name).isPresent() && !offered.test(name))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Whether the node has some of it, taken or not. */
  static boolean isOffered(Node node, String resource) {
    @Nullable Quantity amount = node.getStatus() == null || node.getStatus().getAllocatable() == null
        ? null
        : node.getStatus().getAllocatable().get(resource);
    return amount != null && amount.getNumericalAmount().signum() > 0;
  }

  /**
   * What to tell of it.
   *
   * @param missing what it waits for in vain, not empty
   * @param pod the same as a tree
   * @return empty if it asks for nothing that would be converted
   */
  static Optional<String> note(Collection<String> missing, JsonNode pod) {
    String what = "asks for " + String.join(", ", missing) + ", which no node has, and ";
    return switch (new PodConversion().convert(pod, "")) {
      case Conversion.NothingAsked() -> Optional.empty();
      case Conversion.Refused(List<FieldError> problems) ->
          Optional.of(what + "cannot be converted to claims: "
              + problems.stream().map(FieldError::toString).collect(Collectors.joining("; ")));
      case Conversion.Converted _ ->
          Optional.of(
              what
                  + "was not converted to a claim: no controller answered the API server when it was made, or conversion is turned off. "
                  + "Make it anew (what has an owner comes again when it is deleted), or convert it with 'partita convert'");
    };
  }

  private static boolean isUnschedulable(Pod pod) {
    return pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(c -> "PodScheduled".equals(c.getType()) && "False".equals(c.getStatus())
                && "Unschedulable".equals(c.getReason()));
  }
}
