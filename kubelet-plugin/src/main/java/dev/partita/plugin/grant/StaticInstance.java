package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/**
 * A MIG instance that somebody else than Partita made: it is there before the claim is, and stays when the claim ends.
 *
 * @param instance which one
 */
public record StaticInstance(MigInstance instance) implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return instance.inTheWay(others)
        .map(other -> own.grant().device() + " of " + own.card() + " is wanted, but " + other.has(own));
  }

  @Override
  public Optional<MigInstance> mig() {
    return Optional.of(instance);
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return instance.held(card);
  }

  @Override
  public long memoryBytes(CardIdentity card) {
    return instance.memoryBytes();
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.Card();
  }

  @Override
  public String words(String card) {
    return "static " + instance.words(card);
  }
}
