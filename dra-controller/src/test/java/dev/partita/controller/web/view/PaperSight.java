package dev.partita.controller.web.view;

import java.util.Set;
import java.util.function.Predicate;

/**
 * Whoever may list nodes and quotas.
 *
 * @param namespaces whose claims and pods he may list as well
 */
public record PaperSight(Predicate<String> namespaces) implements Sight {
  /** Whoever may list everything. */
  public static final Sight EVERYTHING = new PaperSight(_ -> true);

  static Sight of(String... namespaces) {
    return new PaperSight(Set.of(namespaces)::contains);
  }

  @Override
  public boolean nodes() {
    return true;
  }

  @Override
  public boolean quotas() {
    return true;
  }

  @Override
  public boolean claimsOf(String namespace) {
    return namespaces.test(namespace);
  }

  @Override
  public boolean podsOf(String namespace) {
    return namespaces.test(namespace);
  }
}
