package dev.partita.plugin.claim;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/** All of a card. */
public record WholeCard() implements CardUse {
  @Override
  public Optional<String> clash(Held own, List<Held> others) {
    return others.stream().findFirst().map(other -> own.card() + " is wanted as a whole, but " + other.has(own));
  }

  @Override
  public boolean needsUncutCard() {
    return true;
  }

  @Override
  public boolean isUsedWithoutLedger() {
    return true;
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.whole(card.uuid()));
  }

  @Override
  public long memoryBytes(CardIdentity card) {
    return card.memoryBytes();
  }

  @Override
  public String words(String card) {
    return "whole " + card;
  }
}
