package dev.partita.controller.nodes;

import dev.partita.controller.booking.HostCapacities.Capacity;
import dev.partita.controller.decode.LeftOut;
import dev.partita.controller.request.PodNeeds;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a pod can run on a node, by what the two say: name, selector, required node affinity, taints, cordon,
 * and requested CPU, memory and pod count. kube-scheduler decides in the end; it vetoes for what this does not see
 * (affinity between pods, spreading, volumes).
 */
public final class NodeFit {
  /** No node is called so: names of nodes are in lower case. */
  private static final String NEW_NODE = "NEW";

  private NodeFit() {}

  /**
   * Why the pod cannot run there; empty if it can as far as is known.
   *
   * @param load what other pods request on that node
   */
  public static Optional<String> refusal(Pod pod, Node node, Load load) {
    String name = node.getMetadata().getName();
    var spec = pod.getSpec();
    if (spec.getNodeName() != null && !spec.getNodeName().isEmpty()) {
      // Already bound: whatever the scheduler would have said no longer matters.
      return spec.getNodeName().equals(name)
          ? Optional.empty()
          : Optional.of("the pod is bound to " + spec.getNodeName());
    }
    List<String> leftOut = LeftOut.of(pod);
    if (!leftOut.isEmpty()) {
      return Optional.of("the pod's " + LeftOut.words(leftOut.getFirst()));
    }
    Map<String, String> labels = Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of());
    if (spec.getNodeSelector() != null && !labels.entrySet().containsAll(spec.getNodeSelector().entrySet())) {
      return Optional.of("the pod's nodeSelector does not match");
    }
    if (!affine(pod, name, labels)) {
      return Optional.of("the pod's node affinity does not match");
    }
    return tainted(node, spec.getTolerations())
        .or(() -> load.refusal(PodRequests.of(pod), PodRequests.allocatable(node)));
  }

  /**
   * Why the pod could not run on a node that is added and is like this one: it has another name, nobody has cordoned
   * it, and Kubernetes' controllers have said nothing of its state. What DaemonSets' pods would request there is not
   * counted.
   */
  public static Optional<String> refusalByNew(Pod pod, Node like) {
    List<Taint> owners =
        like.getSpec() == null
            ? List.of()
            : Objects.requireNonNullElse(like.getSpec().getTaints(), List.<Taint>of()).stream()
                .filter(taint -> !taint.getKey().startsWith("node.kubernetes.io/")).toList();
    Node added = new NodeBuilder(like)
        .editMetadata()
        .withName(NEW_NODE)
        .addToLabels("kubernetes.io/hostname", NEW_NODE)
        .endMetadata()
        .editOrNewSpec()
        .withUnschedulable(false)
        .withTaints(owners)
        .endSpec()
        .build();
    return refusal(pod, added, Load.NONE);
  }

  /** What the pod requests of a node, as far as it can run out. */
  public static PodNeeds needs(Pod pod) {
    PodRequests requests = PodRequests.of(pod);
    return new PodNeeds(requests.milliCpu(), requests.memory());
  }

  /**
   * What CPU and memory the node has, and has left.
   *
   * @param load what pods request there
   */
  public static Capacity capacity(Node node, Load load) {
    PodRequests total = PodRequests.allocatable(node);
    PodRequests used = load.sum();
    return new Capacity(
        new PodNeeds(Math.max(0, total.milliCpu() - used.milliCpu()), Math.max(0, total.memory() - used.memory())),
        new PodNeeds(total.milliCpu(), total.memory()));
  }

  /** Whether a node selector, such as an allocation's, selects the node. */
  public static boolean selects(NodeSelector selector, Node node) {
    Map<String, String> labels = Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of());
    return selector.getNodeSelectorTerms().stream()
        .anyMatch(term -> matches(term, node.getMetadata().getName(), labels));
  }

  /** The node that a selector names, if it names one. */
  public static Optional<String> onlyNode(NodeSelector selector) {
    return selector.getNodeSelectorTerms().stream()
        .flatMap(term -> term.getMatchFields().stream())
        .filter(field -> "metadata.name".equals(field.getKey()) && "In".equals(field.getOperator())
            && field.getValues().size() == 1)
        .map(field -> field.getValues().getFirst())
        .findFirst();
  }

  private static boolean affine(Pod pod, String nodeName, Map<String, String> labels) {
    var affinity = pod.getSpec().getAffinity();
    @Nullable NodeSelector required =
        affinity == null || affinity.getNodeAffinity() == null
            ? null
            : affinity.getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution();
    return required == null
        || required.getNodeSelectorTerms().stream().anyMatch(term -> matches(term, nodeName, labels));
  }

  private static boolean matches(NodeSelectorTerm term, String nodeName, Map<String, String> labels) {
    if (term.getMatchExpressions().isEmpty() && term.getMatchFields().isEmpty()) {
      return false; // an empty term selects nothing
    }
    return term.getMatchExpressions().stream().allMatch(r -> matches(r, labels.get(r.getKey())))
        && term.getMatchFields().stream().allMatch(r -> r.getKey().equals("metadata.name") && matches(r, nodeName));
  }

  private static boolean matches(NodeSelectorRequirement requirement, @Nullable String value) {
    List<String> values = requirement.getValues();
    return switch (requirement.getOperator()) {
      case "In" -> value != null && values.contains(value);
      case "NotIn" -> value == null || !values.contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      case "Gt" -> value != null && values.size() == 1 && compare(value, values.getFirst()) > 0;
      case "Lt" -> value != null && values.size() == 1 && compare(value, values.getFirst()) < 0;
      default -> false;
    };
  }

  /**
   * How the label's or taint's number compares with the one asked; 0, which satisfies neither Gt nor Lt, if either is
   * no number.
   */
  private static int compare(String value, String asked) {
    try {
      return Long.compare(Long.parseLong(value), Long.parseLong(asked));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static Optional<String> tainted(Node node, @Nullable List<Toleration> tolerations) {
    List<Toleration> tolerated = Objects.requireNonNullElse(tolerations, List.of());
    if (node.getSpec() == null) {
      return Optional.empty();
    }
    Taint cordon = new Taint("NoSchedule", "node.kubernetes.io/unschedulable", null, null);
    if (Boolean.TRUE.equals(node.getSpec().getUnschedulable())
        && tolerated.stream().noneMatch(t -> covers(t, cordon))) {
      return Optional.of("the node is cordoned");
    }
    return Objects.requireNonNullElse(node.getSpec().getTaints(), List.<Taint>of()).stream()
        .filter(taint -> !"PreferNoSchedule".equals(taint.getEffect()))
        .filter(taint -> tolerated.stream().noneMatch(toleration -> covers(toleration, taint)))
        .findFirst()
        .map(taint -> "the node has the taint " + taint.getKey() + words(taint.getValue()) + ":" + taint.getEffect());
  }

  private static String words(@Nullable String value) {
    return value == null || value.isEmpty() ? "" : "=" + value;
  }

  private static boolean covers(Toleration toleration, Taint taint) {
    if (isSet(toleration.getEffect()) && !toleration.getEffect().equals(taint.getEffect())) {
      return false;
    }
    if (isSet(toleration.getKey()) && !toleration.getKey().equals(taint.getKey())) {
      return false;
    }
    String operator = isSet(toleration.getOperator()) ? toleration.getOperator() : "Equal";
    String asked = Objects.requireNonNullElse(toleration.getValue(), "");
    String value = Objects.requireNonNullElse(taint.getValue(), "");
    return switch (operator) {
      case "Exists" -> true;
      case "Equal" -> isSet(toleration.getKey()) && asked.equals(value);
      case "Gt" -> compare(value, asked) > 0; // the feature gate TaintTolerationComparisonOperators lets pods have them
      case "Lt" -> compare(value, asked) < 0;
      default -> false;
    };
  }

  private static boolean isSet(@Nullable String text) {
    return text != null && !text.isEmpty();
  }
}
