package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds that a pod selects nodes on which {@code nvidia.com/gpu} is no whole card, but a part that others share or a
 * MIG instance: its claim would ask for a whole card all the same. For example, {@code nvidia.com/gpu.product} with the
 * value {@code NVIDIA-A100-SXM4-40GB-SHARED}. The labels are those of GKE, of NVIDIA's GPU feature discovery (README:
 * {@code -SHARED} and {@code -MIG-} in the product), and those by which its device plugin and its MIG manager are told
 * what to do on a node.
 */
final class NodesOfParts {
  /** By these a pod asks for whole cards. */
  static final String CARDS = "nvidia.com/gpu";

  private static final Set<String> SHARED =
      Set.of("cloud.google.com/gke-gpu-sharing-strategy", "cloud.google.com/gke-max-shared-clients-per-gpu",
          "nvidia.com/gpu.sharing-strategy");

  private static final String PARTITION = "cloud.google.com/gke-gpu-partition-size";
  private static final String PRODUCT = "nvidia.com/gpu.product";

  /** By which a node has one of several configurations of the device plugin. */
  private static final String CONFIG = "nvidia.com/device-plugin.config";

  private static final Pattern ONE_OR_MORE = Pattern.compile("[1-9][0-9]*");
  private static final Pattern SEVERAL = Pattern.compile("[2-9]|[1-9][0-9]+");

  private NodesOfParts() {}

  /** What to know of the first such label; empty if there is none. */
  static Optional<FieldError> note(JsonNode spec, String prefix) {
    return NodeLabel.of(spec).stream().filter(each -> !each.operator().equals("Exists"))
        .flatMap(each -> part(each).stream()
            .map(what -> new FieldError(prefix + each.path(), "is of nodes on which " + CARDS + " is " + what)))
        .findFirst();
  }

  private static Optional<String> part(NodeLabel selected) {
    if (selected.name().equals(CONFIG)) {
      return Optional
          .of("what that configuration of the device plugin says, perhaps a part of a card, and the claim asks"
              + " for a whole one; ask for memory instead where it is");
    }
    if (isOfInstances(selected)) {
      return Optional.of("a MIG instance, and the claim asks for a whole card; nvidia.com/mig-<profile> asks for an"
          + " instance");
    }
    if (isPerhapsOfInstances(selected)) {
      return Optional.of("perhaps a MIG instance, and the claim asks for a whole card; where it is one,"
          + " nvidia.com/mig-<profile> asks for an instance");
    }
    return isShared(selected)
        ? Optional.of("a part of a card, and the claim asks for a whole one; ask for memory instead")
        : Optional.empty();
  }

  private static boolean isOfInstances(NodeLabel selected) {
    return switch (selected.name()) {
      case PARTITION -> true;
      case PRODUCT -> selected.value().contains("-MIG-");
      default -> false;
    };
  }

  /** Whether a label says how MIG is to be set up or shown, which nodes whose cards are whole have as well. */
  private static boolean isPerhapsOfInstances(NodeLabel selected) {
    return switch (selected.name()) {
      case "nvidia.com/mig.strategy" -> selected.value().equals("single");
      case "nvidia.com/mig.config" -> !selected.value().equals("all-disabled");
      default -> false;
    };
  }

  private static boolean isShared(NodeLabel selected) {
    return switch (selected.name()) {
      case PRODUCT -> selected.value().endsWith("-SHARED");
      case "nvidia.com/gpu.replicas" -> (selected.operator().equals("Gt") ? ONE_OR_MORE : SEVERAL)
          .matcher(selected.value()).matches();
      case "nvidia.com/mps.capable" -> selected.value().equals("true");
      default -> SHARED.contains(selected.name()) && !selected.value().equals("none");
    };
  }
}
