package dev.partita.controller.templates;

import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.api.Driver;
import dev.partita.controller.claim.PodClaims;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Says what to do about one name of a template in a namespace, by the pods that name it. What pods say about their
 * requests is hostile input: a template is made only if the name that follows from it is the one that the pod names,
 * and it is made from that alone.
 */
sealed interface TemplatePlan {
  /** There is nothing to do, as long as nothing changes. */
  record Keep() implements TemplatePlan {}

  /**
   * Some pods need it.
   *
   * @param waiting these
   */
  record Make(ResourceClaimTemplate template, List<Pod> waiting) implements TemplatePlan {
    public Make {
      waiting = List.copyOf(waiting);
    }
  }

  /** It is ours, and no pod names it. */
  record Unused(ResourceClaimTemplate template) implements TemplatePlan {}

  /** These pods do not get what they ask for, for that reason. */
  record Tell(List<Pod> pods, String problem) implements TemplatePlan {
    public Tell {
      pods = List.copyOf(pods);
    }
  }

  /**
   * Decides.
   *
   * @param existing the template of that name; null if there is none
   * @param pods all of the namespace that name it, also those that are over
   * @param annotations reads what they ask for
   */
  static TemplatePlan of(
      String namespace,
      String name,
      @Nullable ResourceClaimTemplate existing,
      List<Pod> pods,
      ConversionAnnotations annotations) {
    if (existing != null && isOurs(existing)) {
      return pods.isEmpty() ? new Unused(existing) : new Keep();
    }
    List<Pod> asking = new ArrayList<>();
    List<Pod> wrong = new ArrayList<>();
    Optional<String> problem = Optional.empty();
    for (Pod pod : pods) {
      ConversionAnnotations.Asked asked =
          PodClaims.isLive(pod) ? annotations.of(pod) : ConversionAnnotations.Asked.NONE;
      if (asked.problem().isPresent()) {
        wrong.add(pod);
        problem = problem
            .or(() -> asked.problem().map(why -> "annotation " + Driver.CONVERTED_REQUESTS_ANNOTATION + " " + why));
      } else if (asked.names().contains(name)) {
        asking.add(pod);
      }
    }
    if (existing != null) {
      return asking.isEmpty()
          ? new Keep()
          : new Tell(
              asking,
              "ResourceClaimTemplate " + name + " is somebody else's (it is not labelled " + Driver.MANAGED_BY_LABEL
                  + "=" + Driver.MANAGED_BY_CONTROLLER
                  + ") and is left as it is: the pod's claims come from it. Delete it, and the one that the pod asks for is made");
    }
    Optional<ClaimTemplate> wanted = asking.stream().findFirst().flatMap(pod -> annotations.template(pod, name));
    if (wanted.isPresent()) {
      return new Make(labelled(wanted.get(), namespace), asking);
    }
    return problem.isPresent()
        ? new Tell(wrong, "ResourceClaimTemplate " + name + " is not made: " + problem.get())
        : new Keep();
  }

  /** The names of templates that a pod names and that could be ours. */
  static Set<String> names(Pod pod) {
    Set<String> names = new TreeSet<>();
    pod.getSpec().getResourceClaims().stream()
        .map(claim -> Objects.requireNonNullElse(claim.getResourceClaimTemplateName(), ""))
        .filter(ClaimTemplate::isName)
        .forEach(names::add);
    return names;
  }

  /** Whether the controller made it. */
  static boolean isOurs(ResourceClaimTemplate template) {
    Map<String, String> labels = Objects.requireNonNullElse(template.getMetadata().getLabels(), Map.of());
    return Driver.MANAGED_BY_CONTROLLER.equals(labels.get(Driver.MANAGED_BY_LABEL))
        && ClaimTemplate.isName(template.getMetadata().getName());
  }

  private static ResourceClaimTemplate labelled(ClaimTemplate template, String namespace) {
    return new ResourceClaimTemplateBuilder(template.object())
        .editMetadata()
        .withNamespace(namespace)
        .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER)
        .endMetadata()
        .build();
  }
}
