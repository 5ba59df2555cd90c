package dev.partita.controller.claim;

import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Says who may look at devices that others have ({@code adminAccess}). The API server requires the same label when a
 * claim is made (KEP-5018); this checks that it is still there when the claim is allocated.
 */
public final class AdminAccessRule {
  static final String LABEL = "resource.kubernetes.io/admin-access";
  public static final String REFUSAL = "adminAccess: needs the label " + LABEL + "=true on the namespace";

  private AdminAccessRule() {}

  public static boolean isAsked(ClaimRequest claim) {
    return claim.requests().stream().flatMap(request -> request.alternatives().stream())
        .anyMatch(DeviceRequest::isAdminAccess);
  }

  public static boolean isAllowed(@Nullable Namespace namespace) {
    return namespace != null
        && "true".equals(
            Objects.requireNonNullElse(namespace.getMetadata().getLabels(), Map.<String, String>of()).get(LABEL));
  }
}
