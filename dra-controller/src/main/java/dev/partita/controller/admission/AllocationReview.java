package dev.partita.controller.admission;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.Driver;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Says whether a scheduler may allocate what it is about to: no devices of nodes where the controller allocates.
 * kube-scheduler leaves them alone for their taint. A scheduler in which the feature gate DRADeviceTaints is off, as it
 * is up to Kubernetes 1.35 and in those that are built on it, does not see the taint.
 */
final class AllocationReview implements Function<AdmissionRequest, Verdict> {
  private final Predicate<String> isControllers;

  /**
   * @param isControllers whether the controller allocates on the node of this name
   */
  AllocationReview(Predicate<String> isControllers) {
    this.isControllers = isControllers;
  }

  @Override
  public Verdict apply(AdmissionRequest request) {
    if (request.oldObject().path("status").path("allocation").isObject()) {
      return Verdict.allowed();
    }
    return results(request.object()).valueStream().flatMap(result -> ofController(result).stream()).findFirst()
        .<Verdict>map(node -> new Verdict.Forbidden(
            "Partita's controller allocates the devices of node " + node
                + ", and does so for every pod that has claims of"
                + " them; a scheduler that would allocate them itself does not see their taint "
                + Driver.ALLOCATOR_TAINT + " (feature gate DRADeviceTaints)",
            List.of()))
        .orElseGet(Verdict::allowed);
  }

  private static JsonNode results(JsonNode claim) {
    return claim.path("status").path("allocation").path("devices").path("results");
  }

  /** Its node, if it is a device of ours there, to be used and not only looked at. */
  private Optional<String> ofController(JsonNode result) {
    return Driver.NAME.equals(result.path("driver").asText()) && !result.path("adminAccess").asBoolean()
        ? Driver.nodeOfPool(result.path("pool").asText()).filter(isControllers)
        : Optional.empty();
  }
}
