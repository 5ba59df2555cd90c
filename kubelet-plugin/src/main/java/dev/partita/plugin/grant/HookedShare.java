package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** A part of a card, to which the hook library limits containers. Others have other parts of the card. */
public record HookedShare(Share its) implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return keptOff(own, others).or(() -> tooMuch(own, others));
  }

  @Override
  public Optional<Share> share() {
    return Optional.of(its);
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.share(card.uuid(), its.guaranteedBytes(), its.cores()));
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return ofShares;
  }

  @Override
  public String words(String card) {
    return its.words(card);
  }

  /** What keeps every share off a card. If there are several, the first one here is told. */
  private enum Obstacle {
    INSTANCES,
    WHOLE_CARD,
    EXCLUSIVE_SHARE,
    TIME_SLICING,
    MPS,
    NONE
  }

  /** Why no share can be on the card; empty if some can. */
  static Optional<String> keptOff(PreparedDevice own, List<PreparedDevice> others) {
    return others.stream()
        .filter(other -> obstacle(other) != Obstacle.NONE)
        .min(Comparator.comparing(HookedShare::obstacle))
        .flatMap(
            other -> switch (obstacle(other)) {
              case INSTANCES -> Optional.of(own.card() + " is cut into MIG instances: " + other.has(own));
              case WHOLE_CARD -> Optional.of(own.card() + " is prepared as a whole for " + other.owner(own));
              case EXCLUSIVE_SHARE -> Optional.of(own.card() + " is prepared exclusively for " + other.owner(own));
              case TIME_SLICING -> Optional.of(own.card() + " is prepared by time-slicing, which limits nobody, for "
                  + other.owner(own));
              case MPS -> Optional.of(own.card() + " is prepared by MPS for " + other.owner(own));
              case NONE -> Optional.empty();
            });
  }

  private static Obstacle obstacle(PreparedDevice other) {
    return switch (other.grant().use()) {
      case MigInstance _,StaticInstance _,InstanceShare _ -> Obstacle.INSTANCES;
      case WholeCard _ -> Obstacle.WHOLE_CARD;
      case ExclusiveShare _ -> Obstacle.EXCLUSIVE_SHARE;
      case TimeSlicing _ -> Obstacle.TIME_SLICING;
      case Mps _ -> Obstacle.MPS;
      case HookedShare _,BookedShare _,AdminAccess _ -> Obstacle.NONE;
    };
  }

  /** Why the shares would hold more than the card has; empty if they would not. */
  static Optional<String> tooMuch(PreparedDevice own, List<PreparedDevice> others) {
    long total = own.grant().use().takenBytes()
        + others.stream().mapToLong(other -> other.grant().use().takenBytes()).sum();
    long has = own.grant().card().memoryBytes();
    return total > has
        ? Optional.of(own.card() + " has " + has + " bytes, but with this claim its shares would hold " + total)
        : Optional.empty();
  }
}
