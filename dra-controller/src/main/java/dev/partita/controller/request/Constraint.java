package dev.partita.controller.request;

import dev.partita.api.RequestName;
import dev.partita.api.device.AttributeValue;
import dev.partita.controller.inventory.Device;
import java.util.List;
import java.util.Optional;

/**
 * An attribute that the devices of several requests must have in common, or must not. A device without the attribute
 * never satisfies it.
 */
public sealed interface Constraint {
  /** Fully qualified name of the attribute. */
  String attribute();

  /** Requests, or {@code request/subrequest}, that it holds for; empty for all. */
  List<String> requests();

  /** All have the same value. */
  record Equal(String attribute, List<String> requests) implements Constraint {
    public Equal {
      requests = List.copyOf(requests);
    }
  }

  /** No two have the same value. */
  record Distinct(String attribute, List<String> requests) implements Constraint {
    public Distinct {
      requests = List.copyOf(requests);
    }
  }

  /** Whether it holds for devices under that result name. */
  default boolean covers(String resultName) {
    return RequestName.covers(requests(), resultName);
  }

  /** Whether it still holds when the device joins the others, which satisfy it. */
  default boolean allows(Device device, List<Device> others) {
    Optional<AttributeValue> value = device.attribute(attribute());
    if (value.isEmpty()) {
      return false;
    }
    return switch (this) {
      case Equal _ -> others.stream().allMatch(other -> other.attribute(attribute()).equals(value));
      case Distinct _ -> others.stream().noneMatch(other -> other.attribute(attribute()).equals(value));
    };
  }
}
