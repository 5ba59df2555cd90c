package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.controller.allocate.ClaimAsk.RequestAsk;
import dev.partita.controller.allocate.NodeSearch.Choice;
import dev.partita.controller.allocate.NodeSearch.Found;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses node and cards for all the claims of a pod at once, or says for every node and card why not. It changes nothing
 * and remembers nothing but compiled selectors: the same input gives the same outcome. For one thread.
 */
public final class Allocator {
  /** Combinations of firstAvailable alternatives that are tried on a node. */
  static final int MAX_CHOICES = 64;

  private final Eligibility eligibility;

  public Allocator(DeviceSelectors selectors) {
    this.eligibility = new Eligibility(selectors);
  }

  /**
   * @param claims the claims of one pod that have no allocation yet
   * @param candidates every node with cards, with what already speaks against it
   * @param accounts what is taken of every card
   */
  public Outcome allocate(List<ClaimAsk> claims, List<Candidate> candidates, Accounts accounts) {
    List<Choice> choices = choices(claims);
    @Nullable Found best = null;
    for (Candidate candidate : candidates) {
      if (candidate.refusal().isPresent()) {
        continue;
      }
      IdentityHashMap<DeviceAsk, List<Fit.Fits>> fits = new IdentityHashMap<>();
      for (Choice choice : choices) {
        if (best != null && best.score().rank() < choice.rank()) {
          break;
        }
        if (!enoughCards(choice, candidate.host(), accounts, fits)) {
          continue;
        }
        Optional<Found> found = NodeSearch.search(candidate.host(), accounts, choice, fits);
        if (found.isPresent()) {
          best = best == null || found.get().score().compareTo(best.score()) < 0 ? found.get() : best;
          break;
        }
      }
    }
    return best == null
        ? new Outcome.Unallocatable(explain(claims, candidates, accounts))
        : new Outcome.Allocated(best.score().node(), best.claims());
  }

  private boolean enoughCards(Choice choice, GpuHost host, Accounts accounts, IdentityHashMap<DeviceAsk, List<Fit.Fits>> fits) {
    for (List<DeviceAsk> asks : choice.asks()) {
      for (DeviceAsk ask : asks) {
        List<Fit.Fits> possible = fits.computeIfAbsent(ask, a -> possible(host, a));
        int free = 0;
        for (Fit.Fits fit : possible) {
          free += Eligibility.now(fit, accounts.of(fit.device().card().key())) instanceof Fit.Fits ? 1 : 0;
        }
        boolean enough =
            switch (ask.count()) {
              case DeviceAsk.Count.Exactly(int devices) -> free >= devices;
              case DeviceAsk.Count.All all -> free > 0 && free == selectedCards(host, ask);
            };
        if (!enough) {
          return false;
        }
      }
    }
    return true;
  }

  /** Devices that could serve the ask if their cards were empty, at most one a card. */
  private List<Fit.Fits> possible(GpuHost host, DeviceAsk ask) {
    Map<CardKey, Fit.Fits> byCard = new LinkedHashMap<>();
    for (Device device : host.devices()) {
      if (eligibility.inPrinciple(device, ask) instanceof Fit.Fits fits) {
        byCard.merge(device.card().key(), fits, (a, b) -> preferred(ask, a, b));
      }
    }
    return List.copyOf(byCard.values());
  }

  /** A class may match a card in both modes: then no memory asked means the card as a whole, and else a share. */
  private static Fit.Fits preferred(DeviceAsk ask, Fit.Fits a, Fit.Fits b) {
    DeviceMode wanted = ask.memory().isEmpty() && ask.cores().isEmpty() ? DeviceMode.WHOLE : DeviceMode.SHARED;
    return b.device().mode() == wanted ? b : a;
  }

  /** Cards that the selectors match, fit or not: a request for all of them must have every one. */
  private int selectedCards(GpuHost host, DeviceAsk ask) {
    return (int)
        host.devices().stream()
            .filter(
                device ->
                    !(eligibility.inPrinciple(device, ask) instanceof Fit.Refused(CardRefusal why))
                        || why.closeness() > CLOSENESS_SELECTED)
            .map(device -> device.card().key())
            .distinct()
            .count();
  }

  private static final int CLOSENESS_SELECTED = 3;

  private static List<Choice> choices(List<ClaimAsk> claims) {
    List<Choice> choices = new ArrayList<>();
    choices.add(new Choice(claims, List.of(), 0));
    for (ClaimAsk claim : claims) {
      List<List<DeviceAsk>> ofClaim = new ArrayList<>();
      List<Integer> ranks = new ArrayList<>();
      ofClaim.add(List.of());
      ranks.add(0);
      for (RequestAsk request : claim.requests()) {
        List<List<DeviceAsk>> longer = new ArrayList<>();
        List<Integer> longerRanks = new ArrayList<>();
        for (int i = 0; i < ofClaim.size(); i++) {
          for (int rank = 0; rank < request.alternatives().size() && longer.size() < MAX_CHOICES; rank++) {
            List<DeviceAsk> asks = new ArrayList<>(ofClaim.get(i));
            asks.add(request.alternatives().get(rank));
            longer.add(asks);
            longerRanks.add(ranks.get(i) + rank);
          }
        }
        ofClaim = longer;
        ranks = longerRanks;
      }
      List<Choice> more = new ArrayList<>();
      for (Choice choice : choices) {
        for (int i = 0; i < ofClaim.size() && more.size() < MAX_CHOICES; i++) {
          List<List<DeviceAsk>> asks = new ArrayList<>(choice.asks());
          asks.add(ofClaim.get(i));
          more.add(new Choice(claims, asks, choice.rank() + ranks.get(i)));
        }
      }
      choices = more;
    }
    choices.sort(java.util.Comparator.comparingInt(Choice::rank));
    return choices;
  }

  private Explanation explain(List<ClaimAsk> claims, List<Candidate> candidates, Accounts accounts) {
    return new Explanation(candidates.stream().map(candidate -> refusal(claims, candidate, accounts)).toList());
  }

  private NodeRefusal refusal(List<ClaimAsk> claims, Candidate candidate, Accounts accounts) {
    GpuHost host = candidate.host();
    int cards = host.cards().size();
    if (candidate.refusal().isPresent()) {
      return new NodeRefusal.PodUnfit(host.name(), cards, candidate.refusal().get());
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
        case Fit.Refused(CardRefusal why) -> refusals.merge(key, why, (a, b) -> b.closeness() > a.closeness() ? b : a);
      }
    }
    fitting.forEach(refusals::remove);
    int fits = (int) fitting.stream().distinct().count();
    int wanted =
        switch (ask.count()) {
          case DeviceAsk.Count.Exactly(int devices) -> devices;
          case DeviceAsk.Count.All all -> Math.max(1, selectedCards(host, ask));
        };
    return fits >= wanted
        ? Optional.empty()
        : Optional.of(NodeRefusal.CardsUnfit.of(host.name(), host.cards().size(), claim.claim(), ask, wanted, fits, refusals));
  }
}
