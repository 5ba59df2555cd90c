package dev.partita.controller.allocate;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.allocate.NodeSearch.Choice;
import dev.partita.controller.allocate.NodeSearch.Found;
import dev.partita.controller.allocate.Offers.Offer;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** Places a share of one card, or whole cards of one kind, where the forecast says that it costs least. */
final class ForecastSearch {
  private final Fleet fleet;
  private final FreeCards cards;
  private final Function<DeviceAsk, AskFits> fits;

  ForecastSearch(Fleet fleet, FreeCards cards, Function<DeviceAsk, AskFits> fits) {
    this.fleet = fleet;
    this.cards = cards;
    this.fits = fits;
  }

  /** Whole cards of hosts of one shape that are untouched: what one such host cannot place none can. */
  private record Alike(Rack rack, BitSet untouched) {}

  /** What the forecast says of a choice. */
  sealed interface Advice {
    /** The cheapest placement. */
    record Place(Found found) implements Advice {}

    /** No host can serve it. */
    record Nowhere() implements Advice {}

    /** It has no say in it: another search is to be asked. */
    record NotMine() implements Advice {}
  }

  /** The cheapest placement of the choice. */
  Advice best(PodNeeds needs, Choice choice, Predicate<Standing> refused) {
    List<DeviceAsk> asks = choice.asks().stream().flatMap(List::stream).toList();
    if (asks.size() != 1 || !leavesItToUs(asks.getFirst())) {
      return new Advice.NotMine();
    }
    DeviceAsk ask = asks.getFirst();
    Optional<Offers> offers = fleet.offers(Mix.kind(needs, ask), fits);
    if (offers.isEmpty()) {
      return new Advice.NotMine();
    }
    boolean one = isOne(ask);
    boolean doubtful = false;
    Set<Alike> impossible = new HashSet<>();
    for (Optional<Offer> next = offers.get().next(); next.isPresent(); next = offers.get().next()) {
      Offer offer = next.get();
      Standing standing = offer.standing();
      Alike alike = new Alike(standing.rack(), standing.untouched());
      if (impossible.contains(alike) || refused.test(standing)) {
        continue;
      }
      Optional<Found> found = NodeSearch.search(standing.host(), cards.accounts(), choice, a -> possible(a, offer, one));
      if (found.isPresent()) {
        return new Advice.Place(found.get());
      }
      if (one) {
        doubtful = true; // another card of the host might do: parts are rounded
      } else {
        impossible.add(alike);
      }
    }
    return doubtful ? new Advice.NotMine() : new Advice.Nowhere();
  }

  /** The host on which a pod that needs no cards costs least. */
  Optional<String> hostWithoutCards(PodNeeds needs, Predicate<Standing> refused) {
    Offers offers = fleet.offers(new Mix.Kind(needs, Optional.empty()), fits).orElseThrow();
    for (Optional<Offer> next = offers.next(); next.isPresent(); next = offers.next()) {
      if (!refused.test(next.get().standing())) {
        return next.map(offer -> offer.standing().host().name());
      }
    }
    return Optional.empty();
  }

  private List<Fit.Fits> possible(DeviceAsk ask, Offer offer, boolean one) {
    List<Fit.Fits> all = fits.apply(ask).on(offer.standing());
    if (!one) {
      return all;
    }
    var chosen = offer.standing().host().cards().get(offer.card()).key();
    return all.stream().filter(fit -> fit.device().card().key().equals(chosen)).toList();
  }

  private static boolean leavesItToUs(DeviceAsk ask) {
    return ask.access() == DeviceAsk.Access.OWN && ask.placement().nodes() == Packing.AUTO && ask.placement().gpus() == Packing.AUTO;
  }

  private static boolean isOne(DeviceAsk ask) {
    return ask.count() instanceof DeviceAsk.Count.Exactly(int devices) && devices == 1;
  }
}
