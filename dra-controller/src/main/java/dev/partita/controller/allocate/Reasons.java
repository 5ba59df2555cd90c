package dev.partita.controller.allocate;

import dev.partita.controller.allocate.ClaimAsk.RequestAsk;
import dev.partita.controller.inventory.GpuHost;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Says for every host, and every card of it, why it cannot serve a pod's claims. Looks at all of them, once at hosts that are alike: asked only when none can. */
final class Reasons {
  private final Eligibility eligibility;

  Reasons(Eligibility eligibility) {
    this.eligibility = eligibility;
  }

  /**
   * @param hosts every one of them, which none of the claims' placements fits
   * @param fits of each ask
   * @param oneByOne whether to judge every card by itself, whatever others are like
   */
  Explanation explain(
      List<ClaimAsk> claims, Collection<Standing> hosts, Candidates candidates, Function<DeviceAsk, AskFits> fits, boolean oneByOne) {
    IdentityHashMap<DeviceAsk, CardReasons> known = new IdentityHashMap<>();
    Function<DeviceAsk, CardReasons> reasons = ask -> known.computeIfAbsent(ask, a -> new CardReasons(eligibility, fits.apply(a), oneByOne));
    boolean ofSpots =
        claims.stream().flatMap(claim -> claim.requests().stream()).flatMap(request -> request.alternatives().stream()).allMatch(ask -> reasons.apply(ask).ofSpots());
    Map<Fullness, NodeRefusal> ofAlike = new HashMap<>();
    List<NodeRefusal> nodes = new ArrayList<>(hosts.size());
    for (Standing host : hosts) {
      Optional<String> podUnfit = candidates.refusal(host.host());
      if (podUnfit.isPresent()) {
        nodes.add(new NodeRefusal.PodUnfit(host.host().name(), host.host().cards().size(), podUnfit.get()));
      } else if (ofSpots) {
        nodes.add(ofAlike.computeIfAbsent(host.fullness(), _ -> refusal(claims, host, reasons)).on(host.host().name()));
      } else {
        nodes.add(refusal(claims, host, reasons));
      }
    }
    return new Explanation(nodes);
  }

  private NodeRefusal refusal(List<ClaimAsk> claims, Standing standing, Function<DeviceAsk, CardReasons> reasons) {
    String node = standing.host().name();
    int cards = standing.host().cards().size();
    for (ClaimAsk claim : claims) {
      for (RequestAsk request : claim.requests()) {
        Optional<NodeRefusal> unfit = Optional.empty();
        for (DeviceAsk ask : request.alternatives()) {
          unfit = cardsUnfit(claim, ask, standing, reasons.apply(ask));
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
        node, cards, "each request fits, but not all of them together" + (constrained ? " under the claim's constraints" : ""));
  }

  private Optional<NodeRefusal> cardsUnfit(ClaimAsk claim, DeviceAsk ask, Standing standing, CardReasons reasons) {
    CardReasons.OnHost said = reasons.on(standing);
    int wanted =
        switch (ask.count()) {
          case DeviceAsk.Count.Exactly(int devices) -> devices;
          case DeviceAsk.Count.All all -> Math.max(1, cardsOfAll(standing.host(), ask, standing::account));
        };
    return said.fitting() >= wanted
        ? Optional.empty()
        : Optional.of(
            new NodeRefusal.CardsUnfit(
                standing.host().name(), standing.host().cards().size(), claim.claim(), ask.name(), wanted, said.fitting(), said.refusals()));
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
