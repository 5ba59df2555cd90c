package dev.partita.plugin.grant;

import dev.partita.api.Bytes;
import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;

/**
 * A part of an opaque card, as the books have it. Containers are told how much it is, and nothing holds them to it.
 *
 * @param memoryBytes bytes of device memory
 * @param physicalBytes bytes of the card that it is counted with; less where the node offers more than its cards have
 * @param cores percent of the card's time, 0 for none
 */
public record BookedShare(long memoryBytes, long physicalBytes, int cores) implements CardUse {
  public BookedShare {
    if (physicalBytes <= 0 || physicalBytes > memoryBytes) {
      throw new IllegalArgumentException("a share has memory of its card: " + physicalBytes + " of " + memoryBytes);
    }
    if (cores < 0 || cores > 100) {
      throw new IllegalArgumentException("cores are a percentage: " + cores);
    }
  }

  @Override
  public Optional<String> clash(PreparedDevice own, List<PreparedDevice> others) {
    return HookedShare.keptOff(own, others).or(() -> HookedShare.tooMuch(own, others));
  }

  @Override
  public long takenBytes() {
    return physicalBytes;
  }

  /** No: it has no MIG instances, and NVML does not know it. */
  @Override
  public boolean needsUncutCard() {
    return false;
  }

  /** NVML does not know the card: only the claim's pods tell. */
  @Override
  public boolean isUsedWithoutLedger() {
    return false;
  }

  @Override
  public Optional<HeldDevice> held(CardIdentity card) {
    return Optional.of(HeldDevice.share(card.uuid(), physicalBytes, cores));
  }

  @Override
  public long memoryBytes(CardIdentity card) {
    return memoryBytes;
  }

  @Override
  public Enforcer enforcer(Enforcer ofShares) {
    return new Enforcer.None();
  }

  @Override
  public String words(String card) {
    return Bytes.words(memoryBytes) + " of " + card + (cores == 0 ? "" : ", " + cores + " % of its time")
        + ", which is only counted: nothing holds its programs to that";
  }
}
