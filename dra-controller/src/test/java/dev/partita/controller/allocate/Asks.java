package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.controller.allocate.ClaimAsk.RequestAsk;
import dev.partita.controller.allocate.DeviceAsk.Count;
import dev.partita.controller.allocate.DeviceAsk.Selector;
import java.util.List;
import java.util.OptionalLong;

/** Claims as a reader would have read them. */
final class Asks {
  private Asks() {}

  static Selector mode(DeviceMode mode) {
    return new Selector("class", "device.attributes[\"gpu.partita.dev\"].mode == \"" + mode.attributeValue() + "\"");
  }

  static Selector model(String model) {
    return new Selector("class", "device.attributes[\"gpu.partita.dev\"].model == \"" + model + "\"");
  }

  static DeviceAsk share(String name, int count, long memory, long cores) {
    return ask(name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count), OptionalLong.of(memory), OptionalLong.of(cores));
  }

  static DeviceAsk share(String name, String model, long memory) {
    return ask(
        name, List.of(mode(DeviceMode.SHARED), model(model)), new Count.Exactly(1), OptionalLong.of(memory), OptionalLong.empty());
  }

  /** Shares of so many percent of each card's memory. */
  static DeviceAsk percent(String name, int count, int percent, long cores) {
    return new DeviceAsk(
        name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count), new MemoryAsk.Percent(percent), OptionalLong.of(cores), List.of(), Placement.DEFAULT);
  }

  static DeviceAsk whole(String name, int count) {
    return ask(name, List.of(mode(DeviceMode.WHOLE)), new Count.Exactly(count), OptionalLong.empty(), OptionalLong.empty());
  }

  static DeviceAsk ask(String name, List<Selector> selectors, Count count, OptionalLong memory, OptionalLong cores) {
    return new DeviceAsk(name, selectors, count, memory, cores, List.of(), Placement.DEFAULT);
  }

  /** The same to look at only. */
  static DeviceAsk monitor(DeviceAsk ask) {
    return new DeviceAsk(
        ask.name(), ask.selectors(), ask.count(), ask.memory(), ask.cores(), ask.tolerations(), ask.placement(), DeviceAsk.Access.MONITOR);
  }

  static ClaimAsk claim(String name, DeviceAsk... asks) {
    return claim(name, List.of(), asks);
  }

  static ClaimAsk claim(String name, List<Constraint> constraints, DeviceAsk... asks) {
    List<RequestAsk> requests = List.of(asks).stream().map(ask -> new RequestAsk(ask.name(), List.of(ask))).toList();
    return new ClaimAsk(new ClaimRef("default", name, "uid-" + name), requests, constraints);
  }
}
