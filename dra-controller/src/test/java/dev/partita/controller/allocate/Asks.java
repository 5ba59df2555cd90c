package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.ClaimRequest.RequestAsk;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceAsk;
import dev.partita.controller.request.DeviceAsk.Count;
import dev.partita.controller.request.DeviceAsk.Selector;
import dev.partita.controller.request.DeviceAsk.Toleration;
import dev.partita.controller.request.MemoryRequest;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.Stream;

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
    return ask(name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count), OptionalLong.of(memory),
        OptionalLong.of(cores));
  }

  static DeviceAsk share(String name, String model, long memory) {
    return ask(
        name, List.of(mode(DeviceMode.SHARED), model(model)), new Count.Exactly(1), OptionalLong.of(memory),
        OptionalLong.empty());
  }

  /** Shares of so many percent of each card's memory. */
  static DeviceAsk percent(String name, int count, int percent, long cores) {
    return new DeviceAsk(
        name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count), new MemoryRequest.Percent(percent),
        OptionalLong.of(cores), List.of(), Placement.DEFAULT);
  }

  static DeviceAsk whole(String name, int count) {
    return ask(name, List.of(mode(DeviceMode.WHOLE)), new Count.Exactly(count), OptionalLong.empty(),
        OptionalLong.empty());
  }

  static DeviceAsk ask(String name, List<Selector> selectors, Count count, OptionalLong memory, OptionalLong cores) {
    return new DeviceAsk(name, selectors, count, memory, cores, List.of(), Placement.DEFAULT);
  }

  /** The same to look at only. */
  static DeviceAsk monitor(DeviceAsk ask) {
    return new DeviceAsk(
        ask.name(), ask.selectors(), ask.count(), ask.memory(), ask.cores(), ask.tolerations(), ask.placement(),
        DeviceAsk.Access.MONITOR, ask.oversubscribe());
  }

  /** The same with more memory than it has of the card, in percent of that. */
  static DeviceAsk oversubscribed(DeviceAsk ask, int percent) {
    return new DeviceAsk(ask.name(), ask.selectors(), ask.count(), ask.memory(), ask.cores(), ask.tolerations(),
        ask.placement(), ask.access(), percent);
  }

  /** The same where these taints do not matter. */
  static DeviceAsk tolerating(DeviceAsk ask, Toleration... taints) {
    return new DeviceAsk(
        ask.name(), ask.selectors(), ask.count(), ask.memory(), ask.cores(), List.of(taints), ask.placement(),
        ask.access(), ask.oversubscribe());
  }

  /** The same of another number of devices. */
  static DeviceAsk counted(DeviceAsk ask, Count count) {
    return new DeviceAsk(
        ask.name(), ask.selectors(), count, ask.memory(), ask.cores(), ask.tolerations(), ask.placement(), ask.access(),
        ask.oversubscribe());
  }

  /** The same of all devices that there are of the kind. */
  static DeviceAsk all(DeviceAsk ask) {
    return counted(ask, new Count.All());
  }

  /** The same with other amounts of memory and cores. */
  static DeviceAsk amounting(DeviceAsk ask, MemoryRequest memory, OptionalLong cores) {
    return new DeviceAsk(ask.name(), ask.selectors(), ask.count(), memory, cores, ask.tolerations(), ask.placement(),
        ask.access(), ask.oversubscribe());
  }

  /** The same with other selectors. */
  static DeviceAsk selected(DeviceAsk ask, List<Selector> selectors) {
    return new DeviceAsk(
        ask.name(), selectors, ask.count(), ask.memory(), ask.cores(), ask.tolerations(), ask.placement(), ask.access(),
        ask.oversubscribe());
  }

  /** The same placed in another way. */
  static DeviceAsk placed(DeviceAsk ask, Placement placement) {
    return ask.placed(placement);
  }

  /** The same on a card of its own. */
  static DeviceAsk alone(DeviceAsk ask) {
    return placed(ask, ask.placement().alone());
  }

  /** The same on cards of other models, or other cards. */
  static DeviceAsk on(DeviceAsk ask, Choice models, Choice uuids) {
    Placement before = ask.placement();
    return placed(ask, new Placement(before.nodes(), before.gpus(), before.numa(), before.nvlink(), models, uuids,
        before.exclusive()));
  }

  static Choice choose(String... values) {
    return new Choice(new TreeSet<>(List.of(values)), Collections.emptySortedSet());
  }

  static Choice avoid(String... values) {
    return new Choice(Collections.emptySortedSet(), new TreeSet<>(List.of(values)));
  }

  /** The same claim with what its cards should have in common if they can. */
  static ClaimRequest preferring(ClaimRequest claim, String... attributes) {
    return new ClaimRequest(
        claim.claim(), claim.requests(), claim.constraints(),
        Stream.of(attributes).<Constraint>map(attribute -> new Constraint.Match(attribute, List.of())).toList());
  }

  static ClaimRequest claim(String name, DeviceAsk... asks) {
    return claim(name, List.of(), asks);
  }

  static ClaimRequest claim(String name, List<Constraint> constraints, DeviceAsk... asks) {
    List<RequestAsk> requests = List.of(asks).stream().map(ask -> new RequestAsk(ask.name(), List.of(ask))).toList();
    return new ClaimRequest(new ClaimRef("default", name, "uid-" + name), requests, constraints);
  }
}
