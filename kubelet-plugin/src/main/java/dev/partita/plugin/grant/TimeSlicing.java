package dev.partita.plugin.grant;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.sharing.SharingStrategy;
import java.util.List;
import java.util.Optional;

/**
 * All of a card, in turn with others who have it so. Nothing is intercepted, and nobody is held to anything.
 *
 * @param interval how long a turn is to be
 */
public record TimeSlicing(TimeSlice interval) implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    Optional<String> alone = others.stream().filter(other -> other.grant().use().timeSlicing().isEmpty()).findFirst()
        .map(other -> own.card() + " is wanted by time-slicing, which limits nobody, but " + other.has(own));
    return alone.isPresent() || others.size() < SharingStrategy.TimeSlicing.MOST
        ? alone
        : Optional.of(own.card() + " is prepared by time-slicing for " + others.size()
            + " devices already, the most that may be");
  }

  @Override
  public Optional<TimeSlicing> timeSlicing() {
    return Optional.of(this);
  }

  /** A share of no bytes, as the controller books it: others may have turns, and nobody anything else. */
  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.share(card.uuid(), 0, 0));
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.None();
  }

  @Override
  public String words(String card) {
    return "all of " + card + " by time-slicing with other claims, neither memory nor cores limited: what one of them"
        + " takes, the others lack";
  }
}
