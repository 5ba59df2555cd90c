package dev.partita.e2e.cluster;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a claim asks for: one request, named {@code gpu}.
 *
 * @param deviceClass of the request
 * @param count of devices
 * @param capacity such as memory: 8Gi
 * @param config the opaque config as a YAML flow mapping; empty for none
 * @param selector a CEL expression; empty for none
 * @param tolerates the key of a taint of devices; empty for none
 */
public record Ask(
    String deviceClass,
    int count,
    Map<String, String> capacity,
    String config,
    String selector,
    String tolerates) {
  public static final String ANY_SHARE = "gpu.partita.dev";
  public static final String WHOLE_CARD = "whole.gpu.partita.dev";

  public Ask(String deviceClass, int count, Map<String, String> capacity, String config, String selector) {
    this(deviceClass, count, capacity, config, selector, "");
  }

  public static Ask share(String memory) {
    return new Ask(ANY_SHARE, 1, Map.of("memory", memory), "", "");
  }

  public static Ask wholeCards(int count) {
    return new Ask(WHOLE_CARD, count, Map.of(), "", "");
  }

  /** A MIG instance of a profile such as {@code 1g.18gb}. */
  public static Ask instance(String profile) {
    return new Ask("mig.gpu.partita.dev", 1, Map.of(), "",
        "device.attributes['gpu.partita.dev'].profile == '%s'".formatted(profile));
  }

  public Ask cores(int percent) {
    Map<String, String> more = new TreeMap<>(capacity);
    more.put("cores", Integer.toString(percent));
    return new Ask(deviceClass, count, more, config, selector, tolerates);
  }

  public Ask cards(int number) {
    return new Ask(deviceClass, number, capacity, config, selector, tolerates);
  }

  /** With a GpuShareConfig of these fields, as in {@code coreLimit: Soft}. */
  public Ask config(String fields) {
    return new Ask(deviceClass, count, capacity,
        "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, " + fields + "}", selector, tolerates);
  }

  /** Of the cards that devices such as {@code gpu-2-shared} are of. */
  public Ask onCardOf(String... devices) {
    String indexes = Arrays.stream(devices).map(device -> device.replaceAll("^gpu-([0-9]+).*", "$1"))
        .collect(Collectors.joining(", "));
    return new Ask(deviceClass, count, capacity, config,
        "device.attributes['gpu.partita.dev'].index in [" + indexes + "]", tolerates);
  }

  /** Of devices with a taint of this key as well. */
  public Ask tolerating(String key) {
    return new Ask(deviceClass, count, capacity, config, selector, key);
  }

  /** The {@code spec} of a ResourceClaim, as YAML flow. */
  String spec() {
    StringBuilder yaml = new StringBuilder(
        "{devices: {requests: [{name: gpu, exactly: {deviceClassName: " + deviceClass + ", count: " + count);
    if (!capacity.isEmpty()) {
      yaml.append(", capacity: {requests: {");
      capacity.forEach((name, quantity) -> yaml.append(name).append(": \"").append(quantity).append("\", "));
      yaml.append("}}");
    }
    if (!selector.isEmpty()) {
      yaml.append(", selectors: [{cel: {expression: \"").append(selector).append("\"}}]");
    }
    if (!tolerates.isEmpty()) {
      yaml.append(", tolerations: [{key: ").append(tolerates).append(", operator: Exists}]");
    }
    yaml.append("}}]");
    if (!config.isEmpty()) {
      yaml.append(", config: [{opaque: {driver: gpu.partita.dev, parameters: ").append(config).append("}}]");
    }
    return yaml.append("}}").toString();
  }
}
