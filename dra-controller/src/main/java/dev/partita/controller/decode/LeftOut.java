package dev.partita.controller.decode;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a pod or claim that the controller reads, but that were too large or too deep to be kept
 * ({@link KeptFields#MOST}). Nothing is decided by the rest of such an object; its owner is told so instead.
 */
public final class LeftOut {
  /**
   * Stands in a decoded object beside metadata; what the API server sends under that name is dropped like every unknown
   * field.
   */
  static final String FIELD = "partitaLeftOut";

  private LeftOut() {}

  /** Paths such as {@code spec.tolerations}; mostly none. */
  public static List<String> of(Pod pod) {
    return in(pod.getAdditionalProperties());
  }

  /** Paths such as {@code spec.devices}; mostly none. */
  public static List<String> of(ResourceClaim claim) {
    return in(claim.getAdditionalProperties());
  }

  /** What is wrong with that, for people. */
  public static String words(String path) {
    return path + " " + problem(path);
  }

  /** The same, to be said after the path: {@code is too large: …}. */
  public static String problem(String path) {
    return "is too large: the controller keeps " + (KeptFields.most(path) >> 10)
        + " KiB of the fields that it reads of an object's "
        + path.split("\\.", 2)[0] + ", no value that nests more than " + KeptFields.MOST_LEVELS
        + " levels deep, no name of more than " + KeptFields.MOST_OF_NAME + " characters and no number of more than "
        + KeptFields.MOST_OF_NUMBER;
  }

  private static List<String> in(@Nullable Map<String, Object> unknown) {
    return unknown != null && unknown.get(FIELD) instanceof Collection<?> paths
        ? paths.stream().map(String::valueOf).toList()
        : List.of();
  }
}
