package dev.partita.controller.place;

import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Lists the ways in which the claims of a pod could be served, the best first. They follow the alternatives of {@code
 * firstAvailable}. For each of these the first way keeps all that the claims prefer, the next ones what matters most of
 * it, and the last one nothing.
 */
public final class Alternatives {
  /**
   * Combinations of firstAvailable alternatives that are tried on a node, besides those in which all requests are as
   * far down theirs.
   */
  static final int MOST = 64;

  private Alternatives() {}

  public static List<Choice> of(List<ClaimRequest> claims) {
    List<Choice> alternatives = alternatives(claims);
    List<String> preferred =
        claims.stream().flatMap(claim -> claim.preferences().stream()).map(Constraint::attribute).distinct().toList();
    if (preferred.isEmpty()) {
      return alternatives;
    }
    int ways = 1 << preferred.size();
    List<Choice> choices = new ArrayList<>();
    for (int way = 0; way < ways; way++) {
      List<String> held = held(preferred, way);
      List<ClaimRequest> asked = claims.stream().map(claim -> claim.heldTo(held)).toList();
      for (Choice choice : alternatives) {
        choices.add(new Choice(asked, choice.requests(), choice.rank() * ways + way));
      }
    }
    choices.sort(Comparator.comparingInt(Choice::rank));
    return choices;
  }

  /** All of them in way 0, none in the last way; the first is kept for the longest. */
  private static List<String> held(List<String> preferred, int way) {
    List<String> held = new ArrayList<>();
    for (int i = 0; i < preferred.size(); i++) {
      if ((way & 1 << (preferred.size() - 1 - i)) == 0) {
        held.add(preferred.get(i));
      }
    }
    return held;
  }

  private static List<Choice> alternatives(List<ClaimRequest> claims) {
    List<Choice> choices = new ArrayList<>();
    for (int[] ranks : Combinations.of(claims).best(MOST)) {
      List<List<DeviceRequest>> requests = new ArrayList<>();
      int place = 0;
      for (ClaimRequest claim : claims) {
        List<DeviceRequest> ofClaim = new ArrayList<>();
        for (NamedRequest request : claim.requests()) {
          ofClaim.add(request.alternatives().get(ranks[place++]));
        }
        requests.add(ofClaim);
      }
      choices.add(new Choice(claims, requests, Arrays.stream(ranks).sum()));
    }
    choices.sort(Comparator.comparingInt(Choice::rank));
    return choices;
  }
}
