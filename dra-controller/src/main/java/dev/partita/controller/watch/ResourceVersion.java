package dev.partita.controller.watch;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.math.BigInteger;

/** Compares versions of objects of one kind (KEP-5504): the server numbers them in the order of its writes. */
public final class ResourceVersion {
  private ResourceVersion() {}

  /** Whether the first is later than the second. */
  public static boolean isNewer(String version, String than) {
    return new BigInteger(version).compareTo(new BigInteger(than)) > 0;
  }

  /** Whether the object is shown as it was at that version, or later. */
  public static boolean hasReached(HasMetadata object, String version) {
    return !isNewer(version, object.getMetadata().getResourceVersion());
  }
}
