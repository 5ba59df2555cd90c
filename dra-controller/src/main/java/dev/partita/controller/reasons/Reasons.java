package dev.partita.controller.reasons;

import dev.partita.controller.index.HostState;
import dev.partita.controller.index.OccupancyKey;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * Finds for every host, and for every card of it, why it cannot serve a pod's claims. Hosts that are alike are looked
 * at once. This takes long, so it is done only when no host can serve them.
 */
public final class Reasons {
  private final Eligibility eligibility;

  public Reasons(Eligibility eligibility) {
    this.eligibility = eligibility;
  }

  /**
   * @param claims read in the widest way
   * @param hosts every one of them, which none of the claims' placements fits
   * @param matchers of each request
   * @param oneByOne whether to judge every card by itself, whatever others are like
   */
  public Explanation explain(
      List<ClaimRequest> claims,
      Collection<HostState> hosts,
      Candidates candidates,
      Function<DeviceRequest, RequestMatcher> matchers,
      boolean oneByOne) {
    IdentityHashMap<DeviceRequest, CardReasons> known = new IdentityHashMap<>();
    Function<DeviceRequest, CardReasons> reasons =
        request -> known.computeIfAbsent(request, a -> new CardReasons(eligibility, matchers.apply(a), oneByOne));
    boolean ofPositions =
        claims.stream().flatMap(claim -> claim.requests().stream()).flatMap(request -> request.alternatives().stream())
            .allMatch(request -> reasons.apply(request).ofPositions());
    int least = ClaimRequest.leastDevices(claims);
    Map<OccupancyKey, NodeRefusal> ofAlike = new HashMap<>();
    List<NodeRefusal> nodes = new ArrayList<>(hosts.size());
    for (HostState host : hosts) {
      Optional<String> podUnfit = candidates.refusal(host.host());
      if (podUnfit.isPresent()) {
        nodes.add(new NodeRefusal.PodUnfit(host.host().name(), host.host().cards().size(), podUnfit.get()));
      } else if (ofPositions && host.host().held().isEmpty()) {
        nodes
            .add(ofAlike.computeIfAbsent(host.occupancy(), _ -> refusal(claims, least, host, reasons))
                .on(host.host().name()));
      } else {
        nodes.add(refusal(claims, least, host, reasons));
      }
    }
    return new Explanation(nodes);
  }

  /** @param least how many devices the claims ask for at least */
  private NodeRefusal refusal(
      List<ClaimRequest> claims,
      int least,
      HostState hostState,
      Function<DeviceRequest, CardReasons> reasons) {
    String node = hostState.host().name();
    int cards = hostState.host().cards().size();
    if (least > ClaimRequest.MOST_OF_POD) {
      return tooManyOfPod(least, hostState);
    }
    int ofPod = 0;
    for (ClaimRequest claim : claims) {
      int ofClaim = 0;
      for (NamedRequest request : claim.requests()) {
        Optional<NodeRefusal> unfit = Optional.empty();
        OptionalInt fewest = OptionalInt.empty();
        for (DeviceRequest alternative : request.alternatives()) {
          int wanted = wanted(alternative, hostState);
          Optional<NodeRefusal> why = unfit(claim, alternative, wanted, hostState, reasons.apply(alternative));
          if (why.isPresent()) {
            unfit = why;
          } else {
            fewest = OptionalInt.of(Math.min(wanted, fewest.orElse(wanted)));
          }
        }
        if (fewest.isEmpty()) {
          return unfit.orElseThrow();
        }
        ofClaim += fewest.getAsInt();
      }
      if (ofClaim > ClaimRequest.MOST_RESULTS) {
        return tooMany(claim, ofClaim, hostState);
      }
      ofPod += ofClaim;
    }
    if (ofPod > ClaimRequest.MOST_OF_POD) {
      return tooManyOfPod(ofPod, hostState);
    }
    boolean constrained = claims.stream().anyMatch(claim -> !claim.constraints().isEmpty());
    return new NodeRefusal.NotTogether(
        node, cards,
        "each request fits, but not all of them together" + (constrained ? " under the claim's constraints" : ""));
  }

  private static Optional<NodeRefusal> unfit(
      ClaimRequest claim,
      DeviceRequest request,
      int wanted,
      HostState hostState,
      CardReasons reasons) {
    CardReasons.OnHost said = reasons.on(hostState, wanted);
    if (said.devices() >= wanted) {
      return wanted > ClaimRequest.MOST_RESULTS ? Optional.of(tooMany(claim, wanted, hostState)) : Optional.empty();
    }
    return Optional.of(
        new NodeRefusal.CardsUnfit(
            hostState.host().name(),
            hostState.host().cards().size(),
            claim.claim(),
            request.name(),
            wanted,
            said.fitting(),
            said.devices(),
            said.refusals()));
  }

  private static NodeRefusal tooMany(ClaimRequest claim, int wanted, HostState hostState) {
    String why = "claim " + claim.claim().name() + " asks for " + wanted + " devices there; one claim can hold "
        + ClaimRequest.MOST_RESULTS;
    return new NodeRefusal.NotTogether(hostState.host().name(), hostState.host().cards().size(), why);
  }

  private static NodeRefusal tooManyOfPod(int wanted, HostState hostState) {
    String why = "the pod's claims ask for " + wanted + " devices there; the claims of one pod can hold "
        + ClaimRequest.MOST_OF_POD;
    return new NodeRefusal.NotTogether(hostState.host().name(), hostState.host().cards().size(), why);
  }

  private int wanted(DeviceRequest request, HostState hostState) {
    return switch (request.count()) {
      case DeviceRequest.Count.Exactly(int devices) -> devices;
      case DeviceRequest.Count.All all ->
          Math.max(1, eligibility.devicesOfAll(hostState.host(), request, hostState::account));
    };
  }
}
