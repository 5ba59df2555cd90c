package dev.partita.controller.fleet;

import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Card;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A card, and what claims have of it.
 *
 * @param card the card
 * @param standing whether something can be allocated of it
 * @param taken what is taken of it, by claims or by its node for claims that are gone
 * @param devices what claims have of it
 */
public record CardState(Card card, CardStanding standing, Account taken, List<ClaimDevice> devices) {
  public CardState {
    devices = List.copyOf(devices);
  }

  /** What is wrong with the card or a MIG instance of it, or who else hands it out, for people. */
  public Optional<String> problem() {
    Optional<String> ofCard = Optional.ofNullable(card.gpu().health().message());
    if (ofCard.isPresent()) {
      return ofCard;
    }
    Optional<GpuHealth> ofInstance = card.gpu().staticMigInstances().stream()
        .filter(instance -> !instance.isHealthy()).findFirst().map(StaticMigInstance::health);
    if (ofInstance.isPresent()) {
      return ofInstance.map(GpuHealth::message);
    }
    List<OtherServer> others = card.gpu().servedBy();
    if (!others.isEmpty()) {
      return Optional.of("another device plugin hands it out as "
          + others.stream().map(OtherServer::toString).collect(Collectors.joining("; ")));
    }
    return card.otherDrivers().isEmpty()
        ? Optional.empty()
        : Optional.of("claims have it by the DRA driver " + String.join(" and ", card.otherDrivers()));
  }

  /** Bytes that nobody else can be promised: all, where it is taken as a whole or in turn. */
  public long memoryAllocated() {
    if (taken.wholes() > 0 || taken.turns() > 0) {
      return Math.max(card.allocatableMemory(), taken.memory());
    }
    return taken.memory() + taken.instances().stream().mapToLong(this::memoryOf).sum()
        + taken.sharedInstances().stream().mapToLong(Account.SharedInstance::memory).sum();
  }

  /**
   * Bytes of the card that a claim has: of a whole card all that shares could have together, and of one in turn its
   * part of that if all took as much, rounded up: else a few bytes would seem to be somebody else's.
   */
  public long memoryOf(ClaimDevice device) {
    return switch (device.booking().device()) {
      case DeviceName.Whole _ -> card.allocatableMemory();
      case DeviceName.Shared _ ->
          device.booking().isTurn()
              ? Math.ceilDiv(card.allocatableMemory(), Math.max(1, taken.turns()))
              : device.booking().memory();
      case DeviceName.Opaque _,DeviceName.MigShared _ -> device.booking().memory();
      case DeviceName.Mig mig -> memoryOf(mig.slot());
    };
  }

  private long memoryOf(MigSlot slot) {
    return card.gpu().migProfile(slot).map(MigProfile::memoryBytes).orElse(0L);
  }

  /** Percent of its time that nobody else can be promised. */
  public int coresAllocated() {
    return taken.wholes() > 0 || taken.turns() > 0
        ? Account.CORES
        : Math.min(Account.CORES, taken.cores() + taken.instances().stream().mapToInt(this::coresOf).sum());
  }

  /** Percent of its time that are set aside for a claim. */
  public int coresOf(ClaimDevice device) {
    return switch (device.booking().device()) {
      case DeviceName.Whole _ -> Account.CORES;
      case DeviceName.Mig mig -> coresOf(mig.slot());
      case DeviceName.Shared _,DeviceName.Opaque _,DeviceName.MigShared _ -> device.booking().cores();
    };
  }

  private int coresOf(MigSlot slot) {
    return card.mig().kind(slot).map(card.mig()::percent).orElse(0);
  }

  /**
   * Bytes that a new share could have; of a card that somebody else has cut into MIG instances, what those have
   * together that nobody has.
   */
  public long memoryFree() {
    if (standing == CardStanding.Available && card.gpu().isCutByHand()) {
      return card.gpu().staticMigInstances().stream().filter(StaticMigInstance::isHealthy)
          .flatMap(instance -> instance.slot().stream()).filter(slot -> !taken.instances().contains(slot))
          .mapToLong(slot -> Math.max(0, memoryOf(slot) - taken.sharesOf(slot).memory())).sum();
    }
    return standing != CardStanding.Available || taken.isClosedToShares()
        ? 0
        : Math.max(0, card.allocatableMemory() - taken.memory());
  }

  /** Bytes that the processes of its shares hold, as far as that is known. */
  public OptionalLong memoryUsed() {
    return Measured.sum(devices.stream().map(device -> device.measured().memoryUsed()));
  }

  /** Percent of its time that they had, as far as that is known. */
  public OptionalLong coresUsed() {
    return Measured.sum(devices.stream().map(device -> device.measured().coresUsed()));
  }
}
