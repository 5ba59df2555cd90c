package dev.partita.controller.selector;

import dev.partita.api.Driver;
import dev.partita.api.device.AttributeValue;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.selector.values.KubernetesQuantity;
import java.util.AbstractMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A device as the CEL variable {@code device}. */
final class DeviceView {
  private DeviceView() {}

  static Map<String, Object> of(Device device) {
    Map<String, Map<String, Object>> attributes = new HashMap<>();
    device.attributes().forEach((name, value) -> put(attributes, name, celValue(value)));
    Map<String, Map<String, Object>> capacity = new HashMap<>();
    device.capacities()
        .forEach((String name, Capacity value) -> put(capacity, name, KubernetesQuantity.of(value.total())));
    return Map.of(
        "driver", Driver.NAME,
        "attributes", new ByDomain(attributes),
        "capacity", new ByDomain(capacity),
        "allowMultipleAllocations", device.allowsMultipleAllocations());
  }

  private static Object celValue(AttributeValue value) {
    return switch (value) {
      case AttributeValue.Text(String text) -> text;
      case AttributeValue.Int(long number) -> number;
      case AttributeValue.Flag(boolean flag) -> flag;
      case AttributeValue.Version(var version) -> version;
    };
  }

  private static void put(Map<String, Map<String, Object>> domains, String qualifiedName, Object value) {
    int slash = qualifiedName.indexOf('/');
    String domain = slash < 0 ? Driver.NAME : qualifiedName.substring(0, slash);
    domains.computeIfAbsent(domain, d -> new HashMap<>()).put(qualifiedName.substring(slash + 1), value);
  }

  /**
   * A domain that the device knows nothing of is an empty map, not an error: {@code has(device.attributes["x"].y)} is
   * false.
   */
  static final class ByDomain extends AbstractMap<String, Map<String, Object>> {
    private final Map<String, Map<String, Object>> domains;

    ByDomain(Map<String, Map<String, Object>> domains) {
      this.domains = domains;
    }

    @Override
    public Map<String, Object> get(@Nullable Object domain) {
      return domains.getOrDefault(domain, Map.of());
    }

    /** Whether the device knows the domain: what {@code in} asks. */
    boolean has(@Nullable Object domain) {
      return domains.containsKey(domain);
    }

    /** What an index asks: it never fails. */
    @Override
    public boolean containsKey(@Nullable Object domain) {
      return domain instanceof String;
    }

    @Override
    public Set<Entry<String, Map<String, Object>>> entrySet() {
      return domains.entrySet();
    }
  }
}
