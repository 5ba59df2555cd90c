package dev.partita.controller.watch;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;

/**
 * The name of an object.
 *
 * @param namespace empty for a cluster-scoped one
 */
public record ObjectKey(String namespace, String name) {
  public static ObjectKey of(HasMetadata object) {
    return new ObjectKey(Objects.requireNonNullElse(object.getMetadata().getNamespace(), ""),
        object.getMetadata().getName());
  }

  @Override
  public String toString() {
    return namespace.isEmpty() ? name : namespace + "/" + name;
  }
}
