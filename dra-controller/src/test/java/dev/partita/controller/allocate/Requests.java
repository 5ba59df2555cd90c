package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest.Toleration;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Claims as a reader would have read them. */
final class Requests {
  private Requests() {}

  static Selector mode(DeviceMode mode) {
    return new Selector("class", "device.attributes[\"gpu.partita.dev\"].mode == \"" + mode.attributeValue() + "\"");
  }

  static Selector model(String model) {
    return new Selector("class", "device.attributes[\"gpu.partita.dev\"].model == \"" + model + "\"");
  }

  static DeviceRequest share(String name, int count, long memory, long cores) {
    return request(name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count), OptionalLong.of(memory),
        OptionalLong.of(cores));
  }

  static DeviceRequest share(String name, String model, long memory) {
    return request(
        name, List.of(mode(DeviceMode.SHARED), model(model)), new Count.Exactly(1), OptionalLong.of(memory),
        OptionalLong.empty());
  }

  /** Shares of so many percent of each card's memory. */
  static DeviceRequest percent(String name, int count, int percent, long cores) {
    return DeviceRequest.of(name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count),
        new CapacityRequest(new MemoryRequest.Percent(percent), OptionalLong.of(cores)));
  }

  static DeviceRequest whole(String name, int count) {
    return request(name, List.of(mode(DeviceMode.WHOLE)), new Count.Exactly(count), OptionalLong.empty(),
        OptionalLong.empty());
  }

  static DeviceRequest request(
      String name,
      List<Selector> selectors,
      Count count,
      OptionalLong memory,
      OptionalLong cores) {
    return DeviceRequest.of(name, selectors, count, CapacityRequest.of(memory, cores));
  }

  /** The same to look at only. */
  static DeviceRequest monitor(DeviceRequest request) {
    return new DeviceRequest(request.name(), request.selectors(), request.count(), request.capacity(),
        request.tolerations(), request.placement(), DeviceRequest.Access.MONITOR, request.modes());
  }

  /** The same with more memory than it has of the card, in percent of that. */
  static DeviceRequest oversubscribed(DeviceRequest request, int percent) {
    return new DeviceRequest(request.name(), request.selectors(), request.count(),
        new CapacityRequest(request.memory(), request.cores(), percent, request.capacity().sharing()),
        request.tolerations(), request.placement(), request.access(), request.modes());
  }

  /** The same in turn with others, or with limits. */
  static DeviceRequest sharing(DeviceRequest request, Sharing sharing) {
    return new DeviceRequest(request.name(), request.selectors(), request.count(),
        new CapacityRequest(request.memory(), request.cores(), request.oversubscribe(), sharing),
        request.tolerations(), request.placement(), request.access(), request.modes());
  }

  /** Cards in turn with others. */
  static DeviceRequest turns(String name, int count) {
    return sharing(request(name, List.of(mode(DeviceMode.SHARED)), new Count.Exactly(count), OptionalLong.empty(),
        OptionalLong.empty()), new Sharing.TimeSlicing(TimeSlice.DEFAULT));
  }

  /** Shares beside others by MPS. */
  static DeviceRequest byMps(DeviceRequest request) {
    return sharing(request, Sharing.MPS);
  }

  static boolean isByMps(DeviceRequest request) {
    return request.capacity().sharing() instanceof Sharing.Mps;
  }

  static boolean isInTurn(DeviceRequest request) {
    return request.capacity().sharing() instanceof Sharing.TimeSlicing;
  }

  /** The same where these taints do not matter. */
  static DeviceRequest tolerating(DeviceRequest request, Toleration... taints) {
    return new DeviceRequest(request.name(), request.selectors(), request.count(), request.capacity(), List.of(taints),
        request.placement(), request.access(), request.modes());
  }

  /** The same of another number of devices. */
  static DeviceRequest counted(DeviceRequest request, Count count) {
    return new DeviceRequest(request.name(), request.selectors(), count, request.capacity(), request.tolerations(),
        request.placement(), request.access(), request.modes());
  }

  /** The same of all devices that there are of the kind. */
  static DeviceRequest all(DeviceRequest request) {
    return counted(request, new Count.All());
  }

  /** The same with other amounts of memory and cores. */
  static DeviceRequest amounting(DeviceRequest request, MemoryRequest memory, OptionalLong cores) {
    return new DeviceRequest(request.name(), request.selectors(), request.count(),
        new CapacityRequest(memory, cores, request.oversubscribe(), request.capacity().sharing()),
        request.tolerations(), request.placement(), request.access(), request.modes());
  }

  /** The same with other selectors. */
  static DeviceRequest selected(DeviceRequest request, List<Selector> selectors) {
    return new DeviceRequest(request.name(), selectors, request.count(), request.capacity(), request.tolerations(),
        request.placement(), request.access(), request.modes());
  }

  /** The same placed in another way. */
  static DeviceRequest placed(DeviceRequest request, Placement placement) {
    return request.placed(placement);
  }

  /** The same on a card of its own. */
  static DeviceRequest alone(DeviceRequest request) {
    return placed(request, request.placement().alone());
  }

  /** The same on cards of other models, or other cards. */
  static DeviceRequest on(DeviceRequest request, Choice models, Choice uuids) {
    Placement before = request.placement();
    return placed(request, new Placement(before.nodes(), before.gpus(), before.numa(), before.nvlink(), models, uuids,
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
        Stream.of(attributes).<Constraint>map(attribute -> new Constraint.Equal(attribute, List.of())).toList());
  }

  static ClaimRequest claim(String name, DeviceRequest... requests) {
    return claim(name, List.of(), requests);
  }

  static ClaimRequest claim(String name, List<Constraint> constraints, DeviceRequest... requests) {
    List<NamedRequest> named =
        Stream.of(requests).map(request -> new NamedRequest(request.name(), List.of(request))).toList();
    return new ClaimRequest(new ClaimRef("default", name, "uid-" + name), named, constraints);
  }
}
