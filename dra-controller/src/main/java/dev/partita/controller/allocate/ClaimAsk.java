package dev.partita.controller.allocate;

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
 * @param preferences what they should have in common where any node has that: constraints of different attributes, the first matters most
 */
public record ClaimAsk(ClaimRef claim, List<RequestAsk> requests, List<Constraint> constraints, List<Constraint> preferences) {
  /** Devices that the API lets the allocation of one claim hold. */
  public static final int MOST_RESULTS = 32;

  public ClaimAsk {
    requests = List.copyOf(requests);
    constraints = List.copyOf(constraints);
    preferences = List.copyOf(preferences);
  }

  public ClaimAsk(ClaimRef claim, List<RequestAsk> requests, List<Constraint> constraints) {
    this(claim, requests, constraints, List.of());
  }

  /** The same without the cards of these models. */
  public ClaimAsk avoiding(Collection<String> models) {
    return asking(ask -> ask.placed(ask.placement().avoiding(models)));
  }

  /** The same with every alternative of every request changed so. */
  ClaimAsk asking(UnaryOperator<DeviceAsk> change) {
    return new ClaimAsk(claim, requests.stream().map(request -> request.asking(change)).toList(), constraints, preferences);
  }

  /** The same held to its preferences for these attributes, without any other. */
  ClaimAsk heldTo(Collection<String> attributes) {
    List<Constraint> held = new ArrayList<>(constraints);
    preferences.stream().filter(preference -> attributes.contains(preference.attribute())).forEach(held::add);
    return new ClaimAsk(claim, requests, held);
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

    private RequestAsk asking(UnaryOperator<DeviceAsk> change) {
      return new RequestAsk(name, alternatives.stream().map(change).toList());
    }
  }
}
