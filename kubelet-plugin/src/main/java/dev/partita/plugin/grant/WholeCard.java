package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/** A whole card. Nobody else has any part of it, and nothing is intercepted. */
public record WholeCard() implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return others.stream().findFirst().map(other -> own.card() + " is wanted as a whole, but " + other.has(own));
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.whole(card.uuid()));
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.Card();
  }

  @Override
  public String words(String card) {
    return "whole " + card;
  }
}
