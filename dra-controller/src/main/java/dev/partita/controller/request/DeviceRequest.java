package dev.partita.controller.request;

import dev.partita.api.DeviceName;
import dev.partita.api.config.GpuShareConfig;
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
 * @param memory of each
 * @param cores percent of each; empty for what the device's policy says, which is none
 * @param tolerations taints that do not matter
 * @param placement how to choose among cards
 * @param access whether the devices are to be had or only looked at
 * @param oversubscribe how much memory the container gets, in percent of what a share has of the card; 100 for no more
 *        than that
 * @param reading how it is understood where Kubernetes leaves that to the allocator
 */
public record DeviceRequest(
    String name,
    List<Selector> selectors,
    Count count,
    MemoryRequest memory,
    OptionalLong cores,
    List<Toleration> tolerations,
    Placement placement,
    Access access,
    int oversubscribe,
    Reading reading) {
  public DeviceRequest {
    selectors = List.copyOf(selectors);
    tolerations = List.copyOf(tolerations);
  }

  /** Read as it is meant. */
  public DeviceRequest(
      String name,
      List<Selector> selectors,
      Count count,
      MemoryRequest memory,
      OptionalLong cores,
      List<Toleration> tolerations,
      Placement placement,
      Access access,
      int oversubscribe) {
    this(name, selectors, count, memory, cores, tolerations, placement, access, oversubscribe, Reading.AS_MEANT);
  }

  /** A request for devices to have. */
  public DeviceRequest(
      String name,
      List<Selector> selectors,
      Count count,
      MemoryRequest memory,
      OptionalLong cores,
      List<Toleration> tolerations,
      Placement placement) {
    this(name, selectors, count, memory, cores, tolerations, placement, Access.OWN, GpuShareConfig.NOT_OVERSUBSCRIBED);
  }

  /** Memory as an amount: so many bytes of each, or nothing said. */
  public DeviceRequest(
      String name,
      List<Selector> selectors,
      Count count,
      OptionalLong bytes,
      OptionalLong cores,
      List<Toleration> tolerations,
      Placement placement) {
    this(name, selectors, count, MemoryRequest.of(bytes), cores, tolerations, placement);
  }

  /** Whether its devices are only looked at: whoever else has them keeps them. */
  public boolean isAdminAccess() {
    return access == Access.MONITOR;
  }

  /** How it would have that device. */
  public SharingStrategy strategy(DeviceName device) {
    return SharingStrategy.of(device, placement, isAdminAccess());
  }

  /** The same chosen among cards in another way. */
  public DeviceRequest placed(Placement other) {
    return new DeviceRequest(name, selectors, count, memory, cores, tolerations, other, access, oversubscribe, reading);
  }

  /** The same read in another way. */
  public DeviceRequest read(Reading other) {
    return other == reading
        ? this
        : new DeviceRequest(name, selectors, count, memory, cores, tolerations, placement, access, oversubscribe,
            other);
  }

  /** Which devices of a card serve a request, among those that have what it asks for. */
  public enum Reading {
    /**
     * Of a card that the selectors match in several modes the one that the capacities speak of: what somebody means who
     * writes it.
     */
    AS_MEANT,
    /**
     * Whichever of a card's devices the selectors match: no more than what it says, as Kubernetes' own allocator reads
     * it.
     */
    AS_WRITTEN
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
