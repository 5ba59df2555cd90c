package dev.partita.controller.request;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What one claim asks for.
 *
 * @param claim the claim
 * @param requests its requests, in its order
 * @param constraints what its devices must have in common, or not
 * @param preferences what they should have in common where any node has that: constraints of different attributes, the
 *        first matters most
 */
public record ClaimRequest(
    ClaimRef claim,
    List<NamedRequest> requests,
    List<Constraint> constraints,
    List<Constraint> preferences) {
  /** Devices that the API lets the allocation of one claim hold. */
  public static final int MOST_RESULTS = 32;

  /**
   * Devices that the claims of one pod may hold together: 32 shares of each of 8 cards, or all of 16 cards of 16
   * instances each. Every one of them is looked for beside all others, and the API has no limit of its own: 100 claims
   * of 32 devices each would keep everybody else waiting.
   */
  public static final int MOST_OF_POD = 256;

  public ClaimRequest {
    requests = List.copyOf(requests);
    constraints = List.copyOf(constraints);
    preferences = List.copyOf(preferences);
  }

  public ClaimRequest(ClaimRef claim, List<NamedRequest> requests, List<Constraint> constraints) {
    this(claim, requests, constraints, List.of());
  }

  /**
   * How many devices claims ask for together, at least: all that there are of a kind count as one, and no claim for
   * more than it can hold.
   */
  public static int leastDevices(List<ClaimRequest> claims) {
    return claims.stream().mapToInt(claim -> Math.min(MOST_RESULTS, claim.leastDevices())).sum();
  }

  private int leastDevices() {
    return requests.stream()
        .mapToInt(request -> request.alternatives().stream().mapToInt(ClaimRequest::leastDevices).min().orElse(0))
        .sum();
  }

  private static int leastDevices(DeviceRequest request) {
    return request.count() instanceof DeviceRequest.Count.Exactly(int devices) ? devices : 1;
  }

  /** The same without the cards of these models. */
  public ClaimRequest avoiding(Collection<String> models) {
    return mapAlternatives(request -> request.placed(request.placement().avoiding(models)));
  }

  /** The same with every alternative of every request changed so. */
  public ClaimRequest mapAlternatives(UnaryOperator<DeviceRequest> change) {
    return new ClaimRequest(claim, requests.stream().map(request -> request.mapAlternatives(change)).toList(),
        constraints,
        preferences);
  }

  /** The same held to its preferences for these attributes, without any other. */
  public ClaimRequest heldTo(Collection<String> attributes) {
    List<Constraint> held = new ArrayList<>(constraints);
    preferences.stream().filter(preference -> attributes.contains(preference.attribute())).forEach(held::add);
    return new ClaimRequest(claim, requests, held);
  }

  /**
   * One request.
   *
   * @param alternatives the first that can be met is taken; exactly one unless the claim says firstAvailable
   */
  public record NamedRequest(String name, List<DeviceRequest> alternatives) {
    public NamedRequest {
      alternatives = List.copyOf(alternatives);
      if (alternatives.isEmpty()) {
        throw new IllegalArgumentException("request " + name + " has no alternative");
      }
    }

    private NamedRequest mapAlternatives(UnaryOperator<DeviceRequest> change) {
      return new NamedRequest(name, alternatives.stream().map(change).toList());
    }
  }
}
