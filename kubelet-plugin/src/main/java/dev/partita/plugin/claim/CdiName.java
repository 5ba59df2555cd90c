package dev.partita.plugin.claim;

import dev.partita.api.Driver;
import dev.partita.cdi.CdiKind;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;

/** The names of our CDI devices. */
public final class CdiName {
  public static final CdiKind KIND = new CdiKind(Driver.NAME, "claim");

  /** Annotation of a CDI spec: the claim's {@code namespace/name}. */
  public static final String CLAIM_ANNOTATION = Driver.NAME + "/claim";

  private CdiName() {}

  /** Name of a grant's CDI device: no two claims, and no two shares of one claim, have the same. */
  public static String of(ClaimRef claim, Grant grant) {
    return claim.uid() + "-" + grant.shareKey();
  }

  /** Whether a CDI id is that of a device of the claim. */
  public static boolean isOf(ClaimRef claim, String cdiId) {
    return cdiId.startsWith(KIND.idOf(claim.uid() + "-"));
  }

  /** The CDI id that kubelet hands to the container runtime. */
  public static String idOf(ClaimRef claim, Grant grant) {
    return KIND.idOf(of(claim, grant));
  }
}
