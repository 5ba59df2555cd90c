package dev.partita.controller.place;

import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Says which cards of a host belong together, for requests that prefer or require such cards: by NVLink first, then by
 * NUMA node. A claim takes the smallest group that has enough free cards for all of it, so that larger groups stay
 * whole for others. If no group has enough, it begins with the largest. Within a group the cards with most links among
 * them come first.
 */
final class CardGroups {
  private CardGroups() {}

  /** Whether the request prefers or requires cards that belong together. */
  static boolean matter(DeviceRequest request) {
    return request.placement().nvlink() != Affinity.NONE || request.placement().numa() != Affinity.NONE;
  }

  /**
   * Puts devices in an order in which the group that the request is to take comes first.
   *
   * @param possible one device a card
   * @param free whether its card can be taken now
   * @param wanted how many devices its claim still wants, these included
   * @param had what the claim has already
   */
  static Comparator<Device> order(
      DeviceRequest request,
      List<Device> possible,
      Predicate<Device> free,
      int wanted,
      List<Device> had) {
    List<Device> open = possible.stream().filter(free).toList();
    Map<AttributeValue, List<Integer>> linked =
        groups(DeviceAttribute.NVLINK_DOMAIN, request.placement().nvlink(), open);
    Map<AttributeValue, List<Integer>> near = groups(DeviceAttribute.NUMA_NODE, request.placement().numa(), open);
    Comparator<Device> byLink = by(DeviceAttribute.NVLINK_DOMAIN, linked, wanted);
    Comparator<Device> byNode = by(DeviceAttribute.NUMA_NODE, near, wanted);
    Comparator<Device> together =
        beside(DeviceAttribute.NVLINK_DOMAIN, request.placement().nvlink(), had)
            .thenComparing(beside(DeviceAttribute.NUMA_NODE, request.placement().numa(), had));
    // Where no link is wide enough, being near each other is the most that can be had.
    if (linked.values().stream().noneMatch(group -> group.size() >= wanted)) {
      return together.thenComparing(byNode).thenComparing(byLink);
    }
    Comparator<Device> byDomain = together.thenComparing(byLink);
    return byDomain.thenComparing(directly(open, byDomain, wanted, had)).thenComparing(byNode);
  }

  /** Within the domain that is to be taken, puts those first that are best linked without switches. */
  private static Comparator<Device> directly(
      List<Device> open,
      Comparator<Device> byDomain,
      int wanted,
      List<Device> had) {
    if (!DirectLinks.matter(open)) {
      return (_, _) -> 0;
    }
    Device first = Collections.min(open, byDomain);
    Set<Device> best =
        DirectLinks.best(open.stream().filter(device -> byDomain.compare(device, first) == 0).toList(), wanted, had);
    return Comparator.comparing(device -> !best.contains(device));
  }

  /** Puts those first that belong to what the claim has already. */
  private static Comparator<Device> beside(DeviceAttribute attribute, Affinity affinity, List<Device> had) {
    if (affinity == Affinity.NONE || had.isEmpty()) {
      return (_, _) -> 0;
    }
    Set<AttributeValue> values = new HashSet<>();
    had.forEach(device -> device.attribute(attribute).ifPresent(values::add));
    return Comparator.comparing(device -> device.attribute(attribute).filter(values::contains).isEmpty());
  }

  private static Map<AttributeValue, List<Integer>> groups(
      DeviceAttribute attribute,
      Affinity affinity,
      List<Device> open) {
    Map<AttributeValue, List<Integer>> groups = new HashMap<>();
    if (affinity != Affinity.NONE) {
      for (Device device : open) {
        device.attribute(attribute)
            .ifPresent(value -> groups.computeIfAbsent(value, v -> new ArrayList<>()).add(index(device)));
      }
    }
    return groups;
  }

  private static Comparator<Device> by(
      DeviceAttribute attribute,
      Map<AttributeValue, List<Integer>> groups,
      int wanted) {
    if (groups.isEmpty()) {
      return (_, _) -> 0;
    }
    return Comparator.comparingInt((Device device) -> tightness(group(attribute, groups, device).size(), wanted))
        .thenComparingInt(device -> group(attribute, groups, device).getFirst());
  }

  /** A card without the attribute is a group by itself. */
  private static List<Integer> group(
      DeviceAttribute attribute,
      Map<AttributeValue, List<Integer>> groups,
      Device device) {
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
