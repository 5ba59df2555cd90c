package dev.partita.api;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;

/** Reads annotations of Kubernetes objects, whose metadata may be missing. */
public final class Annotations {
  private Annotations() {}

  /** The value of an object's annotation; empty if it has none of that name. */
  public static Optional<String> value(HasMetadata object, String name) {
    return Optional.ofNullable(object.getMetadata()).map(its -> its.getAnnotations()).map(its -> its.get(name));
  }
}
