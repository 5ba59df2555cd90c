package dev.partita.plugin.grant;

import dev.partita.api.Bytes;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/**
 * A MIG instance of a card, which is made for one claim; the card itself holds containers to it.
 *
 * @param profile the name, such as 1g.18gb
 * @param start first memory slice
 * @param size memory slices
 * @param memoryBytes bytes of device memory
 */
public record MigInstance(String profile, int start, int size, long memoryBytes) implements CardUse {
  public MigInstance {
    if (profile.isEmpty() || start < 0 || size < 1 || memoryBytes <= 0) {
      throw new IllegalArgumentException(
          "no MIG instance: " + profile + " of " + size + " memory slices from " + start);
    }
  }

  /** The instance of a profile at a place, which is one of the profile's. */
  public static MigInstance of(MigProfile profile, MigSlot slot) {
    int size = profile.placements().stream().filter(place -> place.start() == slot.start()).findFirst().orElseThrow()
        .size();
    return new MigInstance(profile.name(), slot.start(), size, profile.memoryBytes());
  }

  /** Which instance of its card it is. */
  public MigSlot slot() {
    return new MigSlot(MigSlot.labelOf(profile), start);
  }

  /** Its memory slices. */
  public MigProfile.Placement placement() {
    return new MigProfile.Placement(start, size);
  }

  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return inTheWay(others)
        .map(other -> own.card() + " is to be cut for " + own.grant().device() + ", but " + other.has(own));
  }

  /** Of what others have of the card, what cannot be beside the instance: anything but instances elsewhere on it. */
  Optional<PreparedDevice> inTheWay(List<PreparedDevice> others) {
    return others.stream()
        .filter(other -> other.grant().mig().map(its -> placement().overlaps(its.placement())).orElse(true))
        .findFirst();
  }

  @Override
  public Optional<MigInstance> mig() {
    return Optional.of(this);
  }

  @Override
  public Optional<MigInstance> made() {
    return Optional.of(this);
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.instance(card.uuid(), profile, placement()));
  }

  @Override
  public long memoryBytes(CardIdentity card) {
    return memoryBytes;
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.Card();
  }

  @Override
  public String words(String card) {
    return "MIG instance " + profile + " (" + Bytes.words(memoryBytes) + ") of " + card;
  }
}
