package dev.partita.controller.place;

import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Lists the ways in which the claims of a pod could be served, the best first. They follow the alternatives of {@code
 * firstAvailable}. For each of these the first way keeps all that the claims prefer, the next ones what matters most of
 * it, and the last one nothing.
 */
public final class Alternatives {
  /** Combinations of firstAvailable alternatives that are tried on a node. */
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
    choices.add(new Choice(claims, List.of(), 0));
    for (ClaimRequest claim : claims) {
      List<List<DeviceRequest>> ofClaim = new ArrayList<>();
      List<Integer> ranks = new ArrayList<>();
      ofClaim.add(List.of());
      ranks.add(0);
      for (NamedRequest request : claim.requests()) {
        List<List<DeviceRequest>> longer = new ArrayList<>();
        List<Integer> longerRanks = new ArrayList<>();
        for (int i = 0; i < ofClaim.size(); i++) {
          for (int rank = 0; rank < request.alternatives().size() && longer.size() < MOST; rank++) {
            List<DeviceRequest> requests = new ArrayList<>(ofClaim.get(i));
            requests.add(request.alternatives().get(rank));
            longer.add(requests);
            longerRanks.add(ranks.get(i) + rank);
          }
        }
        ofClaim = longer;
        ranks = longerRanks;
      }
      List<Choice> more = new ArrayList<>();
      for (Choice choice : choices) {
        for (int i = 0; i < ofClaim.size() && more.size() < MOST; i++) {
          List<List<DeviceRequest>> requests = new ArrayList<>(choice.requests());
          requests.add(ofClaim.get(i));
          more.add(new Choice(claims, requests, choice.rank() + ranks.get(i)));
        }
      }
      choices = more;
    }
    choices.sort(Comparator.comparingInt(Choice::rank));
    return choices;
  }
}
