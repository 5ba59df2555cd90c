package dev.partita.controller.match;

import dev.partita.api.MigSlot;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.MigGeometry;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** A MIG instance of a card, which the card itself holds containers to. The device's name says which one. */
record MigInstance() implements CardUse {
  static final MigInstance INSTANCE = new MigInstance();

  @Override
  public Taking takes() {
    return Taking.INSTANCE;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    return WholeCard.undivided(device, request, this);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    int shares = others.sharesOf(slot(wanted)).shares();
    return shares > 0
        ? Optional.of(new CardRefusal.InstanceHasShares(shares))
        : keptOff(others).or(() -> inTheWay(slot(wanted), wanted.device().card(), others.begunInstances()));
  }

  /** Why no MIG instance of the card can be had; empty if one may. */
  static Optional<CardRefusal> keptOff(Account others) {
    Optional<CardRefusal> undivided = HookedShare.undivided(others);
    return undivided.isEmpty() && others.shares() > 0
        ? Optional.of(new CardRefusal.SharesInTheWay(others.shares()))
        : undivided;
  }

  /** Why the instance cannot be there beside the others; empty if it can. */
  static Optional<CardRefusal> inTheWay(MigSlot wanted, Card card, List<MigSlot> instances) {
    MigGeometry geometry = card.mig();
    int own = geometry.slices(wanted);
    SortedSet<MigSlot> others = new TreeSet<>();
    for (MigSlot instance : instances) {
      if ((geometry.slices(instance) & own) != 0) {
        others.add(instance);
      }
    }
    if (!others.isEmpty()) {
      return Optional.of(new CardRefusal.PlacementsOverlap(card.key().index(), profile(wanted, card),
          new TreeSet<>(List.of(wanted.start())), others));
    }
    return geometry.kind(wanted).filter(k -> MigGeometry.same(k, instances) >= k.profile().count())
        .map(k -> new CardRefusal.NoMoreOfProfile(k.profile().name(), k.profile().count()));
  }

  /** The profile's name, such as 1g.18gb. */
  static String profile(MigSlot slot, Card card) {
    return card.mig().kind(slot).map(kind -> kind.profile().name()).orElse(slot.profile());
  }

  static MigSlot slot(Match match) {
    return match.device().name().instance()
        .orElseThrow(() -> new IllegalArgumentException(match.device() + " is no MIG instance"));
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    return "MIG instance " + profile(slot(given), given.device().card()) + " of " + card;
  }
}
