package dev.partita.api.quota;

import dev.partita.api.DnsName;
import dev.partita.api.config.FieldError;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What must hold of a label selector, as Kubernetes has it for its own (apimachinery, ValidateLabelSelector): the
 * schema of a custom resource lets everything through that has the right types.
 */
public final class LabelSelectorRules {
  private static final int MAX_NAME = 63;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?");

  private LabelSelectorRules() {}

  /**
   * What is wrong, all of it; empty if the selector is in order.
   *
   * @param path of the selector
   */
  public static List<FieldError> errors(LabelSelector selector, String path) {
    List<FieldError> errors = new ArrayList<>();
    new TreeMap<>(Objects.requireNonNullElse(selector.getMatchLabels(), Map.<String, String>of()))
        .forEach(
            (key, value) -> {
              String where = path + ".matchLabels[" + key + "]";
              key(key, where, errors);
              value(value, where, errors);
            });
    List<LabelSelectorRequirement> expressions = Objects.requireNonNullElse(selector.getMatchExpressions(), List.of());
    for (int i = 0; i < expressions.size(); i++) {
      expression(expressions.get(i), path + ".matchExpressions[" + i + "]", errors);
    }
    return errors;
  }

  private static void expression(LabelSelectorRequirement expression, String path, List<FieldError> errors) {
    key(Objects.requireNonNullElse(expression.getKey(), ""), path + ".key", errors);
    List<String> values = Objects.requireNonNullElse(expression.getValues(), List.of());
    String operator = Objects.requireNonNullElse(expression.getOperator(), "");
    switch (operator) {
      case "In", "NotIn" -> {
        if (values.isEmpty()) {
          errors.add(new FieldError(path + ".values", "must name at least one value for operator " + operator));
        }
      }
      case "Exists", "DoesNotExist" -> {
        if (!values.isEmpty()) {
          errors.add(new FieldError(path + ".values", "must be left out for operator " + operator));
        }
      }
      default -> errors.add(new FieldError(path + ".operator",
          "must be one of In, NotIn, Exists, DoesNotExist, not \"" + operator + "\""));
    }
    for (int i = 0; i < values.size(); i++) {
      value(values.get(i), path + ".values[" + i + "]", errors);
    }
  }

  private static void key(String key, String path, List<FieldError> errors) {
    int slash = key.indexOf('/');
    String prefix = slash < 0 ? "" : key.substring(0, slash);
    String name = key.substring(slash + 1);
    boolean right =
        name.length() <= MAX_NAME
            && NAME.matcher(name).matches()
            && (slash < 0 || DnsName.isSubdomain(prefix));
    if (!right) {
      errors.add(new FieldError(path, "is not a label's name: \"" + key + "\""));
    }
  }

  private static void value(String value, String path, List<FieldError> errors) {
    if (!value.isEmpty() && (value.length() > MAX_NAME || !NAME.matcher(value).matches())) {
      errors.add(new FieldError(path, "is not a label's value: \"" + value + "\""));
    }
  }
}
