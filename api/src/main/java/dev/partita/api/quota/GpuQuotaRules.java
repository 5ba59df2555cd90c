package dev.partita.api.quota;

import dev.partita.api.Amount;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What must hold of a GpuQuota's spec that its schema cannot say. */
public final class GpuQuotaRules {
  private GpuQuotaRules() {}

  /** What is wrong, all of it; empty if the spec is in order. */
  public static List<FieldError> errors(GpuQuotaSpec spec) {
    List<FieldError> errors = new ArrayList<>();
    if (spec.namespaceSelector() != null) {
      errors.addAll(LabelSelectorRules.errors(spec.namespaceSelector(), "spec.namespaceSelector"));
    }
    Map<String, Integer> names = new HashMap<>();
    for (int i = 0; i < spec.limits().size(); i++) {
      GpuQuotaSpec.Limit limit = spec.limits().get(i);
      String path = "spec.limits[" + i + "]";
      @Nullable Integer before = limit.name().isEmpty() ? null : names.putIfAbsent(limit.name(), i);
      if (before != null) {
        errors.add(new FieldError(path + ".name", "is that of spec.limits[" + before + "] already: " + limit.name()));
      }
      limit(limit, path, errors);
    }
    return errors;
  }

  /** What is allowed and still surprising: a quota that limits nobody, or nothing. */
  public static List<FieldError> warnings(GpuQuotaSpec spec) {
    List<FieldError> warnings = new ArrayList<>();
    if (spec.namespaceSelector() == null) {
      warnings.add(
          new FieldError("spec.namespaceSelector", "there is none, so that no namespace is selected; {} selects all"));
    }
    if (spec.limits().isEmpty()) {
      warnings.add(new FieldError("spec.limits", "there is none, so that nothing is limited"));
    }
    return warnings;
  }

  private static void limit(GpuQuotaSpec.Limit limit, String path, List<FieldError> errors) {
    Set<String> models = new HashSet<>();
    for (int i = 0; i < limit.models().size(); i++) {
      String model = limit.models().get(i);
      String where = path + ".models[" + i + "]";
      if (!Driver.modelOf(model).equals(model)) {
        errors.add(new FieldError(where,
            "is not the short name of a model: \"" + model + "\"; did you mean " + Driver.modelOf(model) + "?"));
      } else if (!models.add(model)) {
        errors.add(new FieldError(where, "is named twice: " + model));
      }
    }
    if (limit.nodeSelector() != null) {
      errors.addAll(LabelSelectorRules.errors(limit.nodeSelector(), path + ".nodeSelector"));
    }
    amounts(limit.guaranteed(), path + ".guaranteed", errors);
    amounts(limit.burst(), path + ".burst", errors);
    if (limit.guaranteed().equals(Amounts.UNLIMITED) && limit.burst().equals(Amounts.UNLIMITED)) {
      errors.add(new FieldError(path, "limits nothing: name memory, cores, cards or claims in guaranteed or burst"));
    }
  }

  private static void amounts(Amounts amounts, String path, List<FieldError> errors) {
    @Nullable Quantity memory = amounts.memory();
    if (memory != null) {
      Amount.problem(memory).ifPresent(problem -> errors.add(new FieldError(path + ".memory", problem)));
    }
    negative(amounts.cores(), path + ".cores", errors);
    negative(amounts.cards(), path + ".cards", errors);
    negative(amounts.claims(), path + ".claims", errors);
  }

  private static void negative(@Nullable Long amount, String path, List<FieldError> errors) {
    if (amount != null && amount < 0) {
      errors.add(new FieldError(path, "must not be negative: " + amount));
    }
  }
}
