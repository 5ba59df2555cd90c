package dev.partita.controller.quota;

import dev.partita.api.config.FieldError;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.api.quota.LabelSelectorRules;
import io.fabric8.kubernetes.api.model.LabelSelector;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** One GpuQuota, and what is used of it. For one thread. */
final class Quota {
  private final String name;
  private final Set<String> namespaces;
  private final List<Counted> limits;
  private final String problem;
  private Use used = Use.NONE;

  /** A limit and what is used of it. */
  static final class Counted {
    private final Limit limit;
    private final String title;
    private Use used = Use.NONE;

    Counted(String quota, Limit limit) {
      this.limit = limit;
      this.title = limit.name().isEmpty() ? quota : quota + "/" + limit.name();
    }

    Limit limit() {
      return limit;
    }

    Use used() {
      return used;
    }

    void add(Use more) {
      used = used.plus(more);
    }

    void subtract(Use less) {
      used = used.minus(less);
    }

    /** Why that much more is too much, for people; empty if it is not. */
    Optional<String> refusal(Use more) {
      return refusal(more, Use.NONE);
    }

    /**
     * The same.
     *
     * @param waiting what counts as used besides
     */
    Optional<String> refusal(Use more, Use waiting) {
      return more.refusal(limit.most(), used.plus(waiting)).map(words -> "namespace quota " + title + ": " + words);
    }

    boolean borrows() {
      return Use.isMore(used, limit.guaranteed());
    }
  }

  private Quota(String name, Set<String> namespaces, List<Counted> limits, String problem) {
    this.name = name;
    this.namespaces = namespaces;
    this.limits = limits;
    this.problem = problem;
  }

  /** Reads a quota. What cannot be read has no effect, and is named in its status. */
  static Quota of(String name, GpuQuotaSpec spec, QuotaWorld world) {
    List<String> problems = new ArrayList<>();
    Set<String> namespaces = new TreeSet<>();
    @Nullable LabelSelector selector = spec.namespaceSelector();
    if (selector == null) {
      problems.add("spec.namespaceSelector: there is none, so that no namespace is selected");
    } else if (!LabelSelectorRules.errors(selector, "spec.namespaceSelector").isEmpty()) {
      LabelSelectorRules.errors(selector, "spec.namespaceSelector").forEach(error -> problems.add(error.toString()));
    } else {
      world.namespaces().forEach((namespace, labels) -> {
        if (Labels.selects(selector, labels)) {
          namespaces.add(namespace);
        }
      });
    }
    List<Counted> limits = new ArrayList<>();
    for (int i = 0; i < spec.limits().size(); i++) {
      String path = "spec.limits[" + i + "]";
      try {
        Limit limit = Limit.of(spec.limits().get(i));
        List<FieldError> wrong =
            limit.nodes().map(nodes -> LabelSelectorRules.errors(nodes, path + ".nodeSelector")).orElse(List.of());
        if (wrong.isEmpty()) {
          limits.add(new Counted(name, limit));
        } else {
          wrong.forEach(error -> problems.add(error.toString()));
        }
      } catch (IllegalArgumentException | ArithmeticException e) {
        problems.add(path + ": memory is not a quantity");
      }
    }
    return new Quota(name, namespaces, limits, String.join("; ", problems));
  }

  String name() {
    return name;
  }

  boolean covers(String namespace) {
    return namespaces.contains(namespace);
  }

  List<Counted> limits() {
    return limits;
  }

  void add(Use more) {
    used = used.plus(more);
  }

  void subtract(Use less) {
    used = used.minus(less);
  }

  GpuQuotaStatus status() {
    return new GpuQuotaStatus(
        namespaces.size(),
        used.amounts(),
        limits.stream().flatMap(counted -> counted.used().fullest(counted.limit().most()).stream()
            .map(part -> new Fullest(part.share(), counted.limit().name(), part.words())))
            .max(java.util.Comparator.comparingDouble(Fullest::share))
            .map(full -> full.limit().isEmpty() ? full.words() : full.limit() + ": " + full.words())
            .orElse(""),
        limits.stream()
            .map(counted -> new GpuQuotaStatus.LimitUse(counted.limit().name(), counted.used().amounts(),
                counted.borrows()))
            .toList(),
        problem);
  }

  private record Fullest(double share, String limit, String words) {}
}
