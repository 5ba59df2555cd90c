package dev.partita.plugin.grant;

import dev.partita.api.Bytes;
import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/**
 * A part of the memory of a MIG instance that somebody else than Partita made, to which the hook library limits
 * containers. Others have other parts of the instance, which outlives all of them.
 *
 * @param instance which one
 * @param instanceUuid {@code MIG-…}, by which CUDA and NVML in the containers know it
 * @param its memory; it has no cores
 */
public record InstanceShare(MigInstance instance, String instanceUuid, Share its) implements CardUse {
  public InstanceShare {
    if (its.cores() != 0 || its.growth().isPresent() || its.physicalBytes() != its.memoryBytes()) {
      throw new IllegalArgumentException("a share of a MIG instance has a part of its memory alone: " + its);
    }
  }

  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    List<PreparedDevice> ofInstance = others.stream().filter(this::isOfSameInstance).toList();
    List<PreparedDevice> elsewhere = others.stream().filter(other -> !isOfSameInstance(other)).toList();
    return instance.inTheWay(elsewhere)
        .map(other -> own.grant().device() + " of " + own.card() + " is wanted, but " + other.has(own))
        .or(() -> tooMuch(own, ofInstance));
  }

  private boolean isOfSameInstance(PreparedDevice other) {
    return other.grant().use() instanceof InstanceShare share && share.instance.slot().equals(instance.slot());
  }

  private Optional<String> tooMuch(PreparedDevice own, List<PreparedDevice> others) {
    long total = takenBytes() + others.stream().mapToLong(other -> other.grant().use().takenBytes()).sum();
    return total > instance.memoryBytes()
        ? Optional.of("MIG instance " + instance.slot() + " of " + own.card() + " has " + instance.memoryBytes()
            + " bytes, but with this claim its shares would hold " + total)
        : Optional.empty();
  }

  @Override
  public Optional<Share> share() {
    return Optional.of(its);
  }

  @Override
  public Optional<MigInstance> mig() {
    return Optional.of(instance);
  }

  @Override
  public String uuidInContainers(CardIdentity card) {
    return instanceUuid;
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional
        .of(HeldDevice.instanceShare(card.uuid(), instance.profile(), instance.placement(), its.guaranteedBytes()));
  }

  /** The library alone: that a driver's limits hold within an instance has been shown by nobody yet. */
  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.Interception();
  }

  @Override
  public String words(String card) {
    return Bytes.words(its.memoryBytes()) + " of static " + instance.words(card);
  }
}
