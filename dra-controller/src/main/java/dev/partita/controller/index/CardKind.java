package dev.partita.controller.index;

import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute.Scope;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.inventory.Device;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a card is, apart from its place and its name. Whatever reads none of {@link #DIFFERING} says the same of all
 * cards of a kind.
 *
 * @param allocatableMemory bytes that its shares may hold together
 * @param devices what it is offered as
 */
record CardKind(long allocatableMemory, List<DeviceKind> devices) {
  private static final Scope[] DIFFERING_SCOPES = {Scope.POSITION, Scope.CARD};

  /** Attributes that tell cards of a kind apart, by name without domain. */
  static final Set<String> DIFFERING = DeviceAttribute.identifiersOf(DIFFERING_SCOPES);

  private static final Set<String> DIFFERING_KEYS =
      DeviceAttribute.of(DIFFERING_SCOPES).stream().map(DeviceAttribute::key).collect(Collectors.toUnmodifiableSet());

  CardKind {
    devices = List.copyOf(devices);
  }

  /**
   * One of the ways in which a card is offered. Attributes in which cards of a kind differ count only by whether they
   * are there: a card that lacks one is of another kind. Their values are left out when kinds are compared, and not
   * when they are made: a fleet has thousands of cards of a few kinds.
   */
  static final class DeviceKind {
    private final Device device;
    private final int hash;

    DeviceKind(Device device) {
      this.device = device;
      int sum = device.mode().hashCode();
      for (Map.Entry<String, AttributeValue> attribute : device.attributes().entrySet()) {
        String name = attribute.getKey();
        sum = 31 * sum + name.hashCode() + (isDiffering(name) ? 0 : attribute.getValue().hashCode());
      }
      this.hash = sum;
    }

    @Override
    public boolean equals(Object other) {
      return other == this
          || (other instanceof DeviceKind its
              && its.hash == hash
              && its.device.mode() == device.mode()
              && its.device.capacities().equals(device.capacities())
              && its.device.taints().equals(device.taints())
              && haveEqualAttributes(its.device, device));
    }

    /** Both have them in order of name. */
    private static boolean haveEqualAttributes(Device one, Device other) {
      if (one.attributes().size() != other.attributes().size()) {
        return false;
      }
      Iterator<Map.Entry<String, AttributeValue>> others = other.attributes().entrySet().iterator();
      for (Map.Entry<String, AttributeValue> attribute : one.attributes().entrySet()) {
        Map.Entry<String, AttributeValue> its = others.next();
        boolean equal = isDiffering(attribute.getKey()) || attribute.getValue().equals(its.getValue());
        if (!equal || !attribute.getKey().equals(its.getKey())) {
          return false;
        }
      }
      return true;
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  /** Whether an attribute, by its name in a ResourceSlice, tells cards of a kind apart. */
  static boolean isDiffering(String key) {
    return DIFFERING_KEYS.contains(key);
  }
}
