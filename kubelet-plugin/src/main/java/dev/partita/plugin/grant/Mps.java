package dev.partita.plugin.grant;

import dev.partita.api.Bytes;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.sharing.SharingStrategy;
import java.util.List;
import java.util.Optional;

/**
 * A part of a card beside others who share it by NVIDIA's Multi-Process Service. The hook library limits containers to
 * its memory. To its cores MPS does, as far as the container's own environment asks for it; the library limits no time,
 * which would be taken off twice.
 *
 * @param its memory, and percent of the card's multiprocessors
 */
public record Mps(Share its) implements CardUse {
  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    Optional<String> otherwise = others.stream().filter(other -> other.grant().use().mps().isEmpty()).findFirst()
        .map(other -> own.card() + " is wanted by MPS, but " + other.has(own) + ", which is not by MPS");
    if (otherwise.isPresent()) {
      return otherwise;
    }
    return others.size() < SharingStrategy.Mps.MOST
        ? HookedShare.tooMuch(own, others)
        : Optional.of(own.card() + " is prepared by MPS for " + others.size() + " devices already, the most that it"
            + " serves");
  }

  @Override
  public Optional<Share> share() {
    return Optional.of(its);
  }

  @Override
  public Optional<Mps> mps() {
    return Optional.of(this);
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.mps(card.uuid(), its.guaranteedBytes(), its.cores()));
  }

  /** The library, whoever else could: that a driver's limits hold for clients of MPS has been shown by nobody yet. */
  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.Interception();
  }

  @Override
  public String words(String card) {
    String cores = its.cores() == 0
        ? "its multiprocessors not limited"
        : "at most " + its.cores()
            + " % of its multiprocessors, to which only the container's own environment holds it";
    return Bytes.words(its.memoryBytes()) + " of " + card + " by MPS at the same time as other claims, " + cores;
  }
}
