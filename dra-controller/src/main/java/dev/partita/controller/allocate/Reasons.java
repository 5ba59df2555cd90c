package dev.partita.controller.allocate;

import dev.partita.controller.allocate.ClaimAsk.RequestAsk;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Says for every host, and every card of it, why it cannot serve a pod's claims. Looks at all of them: asked only when none can. */
final class Reasons {
  private final Eligibility eligibility;

  Reasons(Eligibility eligibility) {
    this.eligibility = eligibility;
  }

  /** @param hosts every one of them, which none of the claims' placements fits */
  Explanation explain(List<ClaimAsk> claims, Collection<GpuHost> hosts, Candidates candidates, Accounts accounts) {
    return new Explanation(hosts.stream().map(host -> refusal(claims, host, candidates.refusal(host), accounts)).toList());
  }

  private NodeRefusal refusal(List<ClaimAsk> claims, GpuHost host, Optional<String> podUnfit, Accounts accounts) {
    int cards = host.cards().size();
    if (podUnfit.isPresent()) {
      return new NodeRefusal.PodUnfit(host.name(), cards, podUnfit.get());
    }
    for (ClaimAsk claim : claims) {
      for (RequestAsk request : claim.requests()) {
        Optional<NodeRefusal> unfit = Optional.empty();
        for (DeviceAsk ask : request.alternatives()) {
          unfit = cardsUnfit(claim, ask, host, accounts);
          if (unfit.isEmpty()) {
            break;
          }
        }
        if (unfit.isPresent()) {
          return unfit.get();
        }
      }
    }
    boolean constrained = claims.stream().anyMatch(claim -> !claim.constraints().isEmpty());
    return new NodeRefusal.NotTogether(
        host.name(),
        cards,
        "each request fits, but not all of them together" + (constrained ? " under the claim's constraints" : ""));
  }

  private Optional<NodeRefusal> cardsUnfit(ClaimAsk claim, DeviceAsk ask, GpuHost host, Accounts accounts) {
    Map<CardKey, CardRefusal> refusals = new HashMap<>();
    List<CardKey> fitting = new ArrayList<>();
    for (Device device : host.devices()) {
      CardKey key = device.card().key();
      switch (Eligibility.now(eligibility.inPrinciple(device, ask), accounts.of(key))) {
        case Fit.Fits fits -> fitting.add(key);
        case Fit.Refused(CardRefusal why) -> refusals.merge(key, why, CardRefusal::together);
      }
    }
    fitting.forEach(refusals::remove);
    int fits = (int) fitting.stream().distinct().count();
    int wanted =
        switch (ask.count()) {
          case DeviceAsk.Count.Exactly(int devices) -> devices;
          case DeviceAsk.Count.All all -> Math.max(1, cardsOfAll(host, ask, accounts));
        };
    return fits >= wanted
        ? Optional.empty()
        : Optional.of(NodeRefusal.CardsUnfit.of(host.name(), host.cards().size(), claim.claim(), ask, wanted, fits, refusals));
  }

  /** Cards that a request for all means: it must have every one. */
  int cardsOfAll(GpuHost host, DeviceAsk ask, Accounts accounts) {
    return (int)
        host.devices().stream()
            .filter(device -> eligibility.isOneOfAll(device, ask, accounts.of(device.card().key())))
            .map(device -> device.card().key())
            .distinct()
            .count();
  }
}
