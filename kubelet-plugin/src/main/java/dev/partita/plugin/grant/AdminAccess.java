package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/**
 * An administrator's access to a card, or to a MIG instance, beside the claims that have it. It takes nothing of the
 * card.
 *
 * @param instance to which it is; empty if it is to the card. Whoever has made the instance ends it
 */
public record AdminAccess(Optional<MigInstance> instance) implements CardUse {
  /** Access to a card. */
  public AdminAccess() {
    this(Optional.empty());
  }

  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return Optional.empty();
  }

  @Override
  public Optional<MigInstance> mig() {
    return instance;
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
  public long memoryBytes(CardIdentity card) {
    return instance.map(MigInstance::memoryBytes).orElse(card.memoryBytes());
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.None();
  }

  @Override
  public String words(String card) {
    return "admin access to " + instance.map(its -> its.words(card)).orElse(card);
  }
}
