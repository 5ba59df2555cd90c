package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/** A part of a card, to which the hook library limits containers. Nobody else has any part of the card. */
public record ExclusiveShare(Share its) implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    List<PreparedDevice> undivided = others.stream().filter(other -> other.grant().share().isEmpty()).toList();
    return HookedShare.keptOff(own, undivided)
        .or(() -> others.stream().findFirst()
            .map(other -> own.card() + " is wanted exclusively, but " + other.has(own)))
        .or(() -> HookedShare.tooMuch(own, List.of()));
  }

  @Override
  public Optional<Share> share() {
    return Optional.of(its);
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.whole(card.uuid()));
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return ofShares;
  }

  @Override
  public String words(String card) {
    return its.words(card) + ", nobody else on it";
  }
}
