package dev.partita.controller.quota;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Matches label selectors as Kubernetes does. */
public final class Labels {
  private Labels() {}

  /** Whether the selector selects what has these labels. */
  public static boolean selects(LabelSelector selector, Map<String, String> labels) {
    return labels.entrySet()
        .containsAll(Objects.requireNonNullElse(selector.getMatchLabels(), Map.<String, String>of()).entrySet())
        && expressions(selector).stream().allMatch(requirement -> matches(requirement, labels));
  }

  private static List<LabelSelectorRequirement> expressions(LabelSelector selector) {
    return Objects.requireNonNullElse(selector.getMatchExpressions(), List.of());
  }

  private static boolean matches(LabelSelectorRequirement requirement, Map<String, String> labels) {
    String value = labels.get(requirement.getKey());
    List<String> values = Objects.requireNonNullElse(requirement.getValues(), List.of());
    return switch (Objects.requireNonNullElse(requirement.getOperator(), "")) {
      case "In" -> value != null && values.contains(value);
      case "NotIn" -> value == null || !values.contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      default -> false;
    };
  }
}
