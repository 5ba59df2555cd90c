package dev.partita.controller.allocate;

import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.controller.inventory.Device;
import java.util.List;
import java.util.OptionalLong;

/**
 * Devices of one kind that a claim asks for.
 *
 * @param name as results name it: the request's, or {@code request/subrequest}
 * @param selectors what a device must satisfy, the class's first
 * @param count how many
 * @param memory bytes of each; empty for what the device's policy says, which is all of it
 * @param cores percent of each; empty for what the device's policy says, which is none
 * @param tolerations taints that do not matter
 * @param placement how to choose among cards
 */
public record DeviceAsk(
    String name,
    List<Selector> selectors,
    Count count,
    OptionalLong memory,
    OptionalLong cores,
    List<Toleration> tolerations,
    Placement placement) {
  public DeviceAsk {
    selectors = List.copyOf(selectors);
    tolerations = List.copyOf(tolerations);
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

    /** Every card of the node that the selectors match. */
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
      java.util.Optional<String> key, java.util.Optional<String> value, java.util.Optional<String> effect) {
    boolean covers(Device.Taint taint) {
      return key.map(taint.key()::equals).orElse(true)
          && value.map(taint.value()::equals).orElse(true)
          && effect.map(taint.effect()::equals).orElse(true);
    }
  }
}
