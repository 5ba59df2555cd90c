package dev.partita.controller.allocate;

import dev.partita.api.DeviceAttribute;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.controller.inventory.AttributeValue;
import dev.partita.controller.inventory.Device;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Which cards of a host belong together, for asks that prefer cards that do: NVLink before NUMA. A request takes the smallest group
 * that has enough free cards, so that larger ones stay whole for others; if none has, it begins with the largest.
 */
final class CardGroups {
  private CardGroups() {}

  /** Whether the ask prefers any cards by what they belong to. */
  static boolean matter(DeviceAsk ask) {
    return ask.placement().nvlink() == Affinity.PREFERRED || ask.placement().numa() == Affinity.PREFERRED;
  }

  /**
   * An order of devices in which the first ones are the group that the ask is to take.
   *
   * @param possible one device a card
   * @param free whether its card can be taken now
   */
  static Comparator<Device> order(DeviceAsk ask, List<Device> possible, Predicate<Device> free) {
    int wanted = ask.count() instanceof DeviceAsk.Count.Exactly(int devices) ? devices : possible.size();
    List<Device> open = possible.stream().filter(free).toList();
    Map<AttributeValue, List<Integer>> linked = groups(DeviceAttribute.NVLINK_DOMAIN, ask.placement().nvlink(), open);
    Map<AttributeValue, List<Integer>> near = groups(DeviceAttribute.NUMA_NODE, ask.placement().numa(), open);
    Comparator<Device> byLink = by(DeviceAttribute.NVLINK_DOMAIN, linked, wanted);
    Comparator<Device> byNode = by(DeviceAttribute.NUMA_NODE, near, wanted);
    // Where no link is wide enough, being near each other is the most that can be had.
    return linked.values().stream().anyMatch(group -> group.size() >= wanted) ? byLink.thenComparing(byNode) : byNode.thenComparing(byLink);
  }

  private static Map<AttributeValue, List<Integer>> groups(String attribute, Affinity affinity, List<Device> open) {
    Map<AttributeValue, List<Integer>> groups = new HashMap<>();
    if (affinity == Affinity.PREFERRED) {
      for (Device device : open) {
        device.attribute(attribute).ifPresent(value -> groups.computeIfAbsent(value, v -> new ArrayList<>()).add(index(device)));
      }
    }
    return groups;
  }

  private static Comparator<Device> by(String attribute, Map<AttributeValue, List<Integer>> groups, int wanted) {
    if (groups.isEmpty()) {
      return (_, _) -> 0;
    }
    return Comparator.comparingInt((Device device) -> tightness(group(attribute, groups, device).size(), wanted))
        .thenComparingInt(device -> group(attribute, groups, device).getFirst());
  }

  /** A card that says nothing of the attribute is a group by itself. */
  private static List<Integer> group(String attribute, Map<AttributeValue, List<Integer>> groups, Device device) {
    Optional<AttributeValue> value = device.attribute(attribute);
    List<Integer> alone = List.of(index(device));
    return value.map(v -> groups.getOrDefault(v, alone)).orElse(alone);
  }

  private static int tightness(int cards, int wanted) {
    return cards >= wanted ? cards - wanted : Integer.MAX_VALUE - cards;
  }

  private static int index(Device device) {
    return device.card().key().index();
  }
}
