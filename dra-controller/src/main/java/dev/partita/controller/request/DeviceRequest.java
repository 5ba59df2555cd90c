package dev.partita.controller.request;

import dev.partita.api.DeviceName;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.inventory.Device;
import java.util.List;
import java.util.OptionalLong;

/**
 * Devices of one kind that a claim asks for.
 *
 * @param name as results name it: the request's, or {@code request/subrequest}
 * @param selectors what a device must satisfy, the class's first
 * @param count how many
 * @param capacity how much of each
 * @param tolerations taints that do not matter
 * @param placement how to choose among cards
 * @param access whether the devices are to be had or only looked at
 * @param modes of a card that the selectors match in several modes, those that serve the request
 */
public record DeviceRequest(
    String name,
    List<Selector> selectors,
    Count count,
    CapacityRequest capacity,
    List<Toleration> tolerations,
    Placement placement,
    Access access,
    Modes modes) {
  public DeviceRequest {
    selectors = List.copyOf(selectors);
    tolerations = List.copyOf(tolerations);
  }

  /** Devices to have, on whichever cards the selectors match and no taint keeps off. */
  public static DeviceRequest of(String name, List<Selector> selectors, Count count, CapacityRequest capacity) {
    return new DeviceRequest(name, selectors, count, capacity, List.of(), Placement.DEFAULT, Access.OWN,
        Modes.INFERRED);
  }

  /** How much memory of each device. */
  public MemoryRequest memory() {
    return capacity.memory();
  }

  /** Percent of each device's time; empty for what its policy says. */
  public OptionalLong cores() {
    return capacity.cores();
  }

  /** How much memory the container gets, in percent of what a share has of the card. */
  public int oversubscribe() {
    return capacity.oversubscribe();
  }

  /** Characters of its selectors: up to 320 Ki, and whoever makes claims makes as many different ones as he likes. */
  public int characters() {
    return selectors.stream().mapToInt(selector -> selector.expression().length()).sum();
  }

  /** Whether its devices are only looked at: whoever else has them keeps them. */
  public boolean isAdminAccess() {
    return access == Access.MONITOR;
  }

  /** How it would have that device. */
  public SharingStrategy strategy(DeviceName device) {
    return SharingStrategy.of(device, placement, capacity.sharing(), isAdminAccess());
  }

  /** How it would have a share. */
  public SharingStrategy strategyOfShare() {
    return SharingStrategy.ofShare(placement, capacity.sharing());
  }

  /** The same chosen among cards in another way. */
  public DeviceRequest placed(Placement other) {
    return new DeviceRequest(name, selectors, count, capacity, tolerations, other, access, modes);
  }

  /** The same served by other modes. */
  public DeviceRequest withModes(Modes other) {
    return other == modes
        ? this
        : new DeviceRequest(name, selectors, count, capacity, tolerations, placement, access, other);
  }

  /** Which modes of a card serve a request whose selectors match the card in several. */
  public enum Modes {
    /** The one that the request's capacities speak of: memory or cores mean a share, for example. */
    INFERRED,
    /** Every mode that the selectors match, as for Kubernetes' own allocator. */
    ANY
  }

  /** What a claim gets to do with its devices. */
  public enum Access {
    /** They are taken from others. */
    OWN,
    /** {@code adminAccess}: whoever else has them keeps them, and nothing is consumed. */
    MONITOR
  }

  /** How many devices. */
  public sealed interface Count {
    record Exactly(int devices) implements Count {
      public Exactly {
        if (devices < 1) {
          throw new IllegalArgumentException("a request is for at least one device: " + devices);
        }
      }
    }

    /**
     * Every card of the node that the selectors match and that has the capacity asked for, also where shares have taken
     * some of it.
     */
    record All() implements Count {}
  }

  /**
   * A CEL expression.
   *
   * @param origin where it stands, for people: "class h200.gpu.partita.dev"
   */
  public record Selector(String origin, String expression) {}

  /**
   * A taint that the claim tolerates.
   *
   * @param key empty for every key
   * @param value empty for every value
   * @param effect empty for every effect
   */
  public record Toleration(
      java.util.Optional<String> key,
      java.util.Optional<String> value,
      java.util.Optional<String> effect) {
    public boolean covers(Device.Taint taint) {
      return key.map(taint.key()::equals).orElse(true)
          && value.map(taint.value()::equals).orElse(true)
          && effect.map(taint.effect()::equals).orElse(true);
    }
  }
}
