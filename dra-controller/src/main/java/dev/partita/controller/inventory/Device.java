package dev.partita.controller.inventory;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * One way in which a card is offered: what a ResourceSlice lists and a CEL selector sees. Compared by identity: the
 * same object stands for the same device as long as its node reports nothing new, so that verdicts on it can be kept.
 */
public final class Device {
  private final DeviceName name;
  private final Card card;
  private final SortedArrayMap<AttributeValue> attributes;
  private final SortedArrayMap<Capacity> capacities;
  private final List<Taint> taints;

  /**
   * @param attributes by name; a name without a domain belongs to the driver's
   * @param capacities by name, likewise
   */
  Device(
      DeviceName name,
      Card card,
      SortedArrayMap<AttributeValue> attributes,
      SortedArrayMap<Capacity> capacities,
      List<Taint> taints) {
    this.name = name;
    this.card = card;
    this.attributes = attributes;
    this.capacities = capacities;
    this.taints = List.copyOf(taints);
  }

  public DeviceName name() {
    return name;
  }

  public DeviceMode mode() {
    return name.mode();
  }

  public Card card() {
    return card;
  }

  /** Attributes by name, in order of name; a name without a domain belongs to the driver's. */
  public Map<String, AttributeValue> attributes() {
    return attributes;
  }

  /** The attribute of that fully qualified or own name. */
  public Optional<AttributeValue> attribute(String attributeName) {
    String own = dev.partita.api.Driver.NAME + "/";
    String key = attributeName.startsWith(own) ? attributeName.substring(own.length()) : attributeName;
    return Optional.ofNullable(attributes.get(key));
  }

  /** Its value of the attribute. */
  public Optional<AttributeValue> attribute(DeviceAttribute attribute) {
    return Optional.ofNullable(attributes.get(attribute.key()));
  }

  /** Capacities by name, in order of name. */
  public Map<String, Capacity> capacities() {
    return capacities;
  }

  /** How much it has of a capacity. Devices of its mode must have it. */
  public long total(String capacity) {
    return Objects.requireNonNull(capacities.get(capacity), capacity).total();
  }

  /** Taints that say something about the card, as opposed to who allocates it; the published ones first. */
  public List<Taint> taints() {
    return taints;
  }

  /** Whether the other device is the same part of its card as this is of this one's. */
  public boolean isLike(Device other) {
    return switch (name) {
      case DeviceName.Mig _,DeviceName.MigShared _ ->
          other.mode() == mode() && other.name.instance().equals(name.instance());
      case DeviceName.Whole _,DeviceName.Shared _,DeviceName.Opaque _ -> other.mode() == mode();
    };
  }

  public boolean allowsMultipleAllocations() {
    return mode().isShared();
  }

  @Override
  public String toString() {
    return name + " on " + card.key().node();
  }

  /**
   * A device taint.
   *
   * @param rule the DeviceTaintRule that puts it on the device; empty for one that is published with the device
   */
  public record Taint(String key, String value, String effect, Optional<String> rule) {
    Taint(String key, String value, String effect) {
      this(key, value, effect, Optional.empty());
    }

    public boolean isPublished() {
      return rule.isEmpty();
    }
  }
}
