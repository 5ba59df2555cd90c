package dev.partita.controller.allocate;

import java.util.List;

/**
 * What one claim asks for.
 *
 * @param claim the claim
 * @param requests its requests, in its order
 * @param constraints what its devices must have in common, or not
 */
public record ClaimAsk(ClaimRef claim, List<RequestAsk> requests, List<Constraint> constraints) {
  public ClaimAsk {
    requests = List.copyOf(requests);
    constraints = List.copyOf(constraints);
  }

  /**
   * One request.
   *
   * @param alternatives the first that can be met is taken; exactly one unless the claim says firstAvailable
   */
  public record RequestAsk(String name, List<DeviceAsk> alternatives) {
    public RequestAsk {
      alternatives = List.copyOf(alternatives);
      if (alternatives.isEmpty()) {
        throw new IllegalArgumentException("request " + name + " has no alternative");
      }
    }
  }
}
