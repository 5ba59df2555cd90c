package dev.partita.controller.allocate;

import dev.partita.api.DeviceAttribute;
import dev.partita.api.DeviceMode;
import dev.partita.controller.inventory.AttributeValue;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Device;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a card is, but for where it is and what it is called: whatever reads none of {@link #OF_ONE_CARD} says the same of all
 * cards of a kind.
 *
 * @param sellableMemory bytes that its shares may hold together
 * @param devices what it is offered as
 */
record CardKind(long sellableMemory, List<DeviceKind> devices) {
  /** Attributes that tell cards of a kind apart, by name without domain. */
  static final Set<String> OF_ONE_CARD =
      Set.of(
          DeviceAttribute.UUID,
          DeviceAttribute.INDEX,
          DeviceAttribute.MINOR,
          DeviceAttribute.PCI_BUS_ID,
          DeviceAttribute.NVLINK_DOMAIN,
          withoutDomain(DeviceAttribute.PCIE_ROOT),
          withoutDomain(DeviceAttribute.NUMA_NODE));

  CardKind {
    devices = List.copyOf(devices);
  }

  /**
   * One of the ways in which it is offered.
   *
   * @param names all its attributes, those of one card as well: a card that lacks one is of another kind
   * @param attributes the others with their values
   */
  record DeviceKind(
      DeviceMode mode,
      Set<String> names,
      Map<String, AttributeValue> attributes,
      Map<String, Capacity> capacities,
      List<Device.Taint> taints) {
    static DeviceKind of(Device device) {
      Map<String, AttributeValue> shared = new HashMap<>(device.attributes());
      shared.keySet().removeIf(name -> OF_ONE_CARD.contains(withoutDomain(name)));
      return new DeviceKind(
          device.mode(), Set.copyOf(device.attributes().keySet()), Map.copyOf(shared), device.capacities(), device.taints());
    }
  }

  static String withoutDomain(String attribute) {
    return attribute.substring(attribute.indexOf('/') + 1);
  }
}
