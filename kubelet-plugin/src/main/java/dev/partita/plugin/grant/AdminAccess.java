package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/** An administrator's access to a card beside the claims that have it. It takes nothing of the card. */
public record AdminAccess() implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return Optional.empty();
  }

  /** No: the card stays as those who use it have it. */
  @Override
  public boolean needsUncutCard() {
    return false;
  }

  @Override
  public boolean isUsedWithoutLedger() {
    return false;
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.empty();
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.None();
  }

  @Override
  public String words(String card) {
    return "admin access to " + card;
  }
}
