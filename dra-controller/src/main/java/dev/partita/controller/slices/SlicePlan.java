package dev.partita.controller.slices;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.CapacityName;
import dev.partita.api.device.InstanceCondition;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.CapacityRequestPolicy;
import io.fabric8.kubernetes.api.model.resource.v1.CapacityRequestPolicyBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.CounterSet;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacityBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaintBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpecBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Says what a node's pool should hold: the specs of its slices, in order and without generation, which the publisher
 * adds.
 *
 * <p>Where the controller allocates, every device has a taint that claims do not tolerate, and there are no counters.
 * Where kube-scheduler allocates and devices of a card exclude each other, {@link CardCounters} make them do so;
 * counters are in slices of their own, as the API demands.
 *
 * <p>A MIG instance that is still to be made then has binding conditions (KEP-5007): kube-scheduler binds the pod once
 * the node's plugin has made the instance, and takes the allocation back where that fails. Where the controller
 * allocates there are none. It writes the allocation before kube-scheduler sees the pod, and kube-scheduler, which
 * looks at the conditions every five seconds, would bind each such pod so much later.
 */
public final class SlicePlan {
  /**
   * Most devices of a slice when any of them has a taint or consumes a counter (resource.k8s.io/v1, ResourceSliceSpec).
   */
  static final int MAX_DEVICES = 64;

  /** Most counter sets of a slice. */
  static final int MAX_COUNTER_SETS = 8;

  /** The field of a slice that names the attribute by which its devices are counted; the client has none for it yet. */
  static final String PARTITION_TYPE_ATTRIBUTE = "partitionTypeAttribute";

  /** That attribute, without our domain. */
  static final String PARTITION_TYPE = "partitionType";

  /** Most types of a pool that are counted (resource.k8s.io/v1alpha3, ResourcePoolStatusRequest). */
  static final int MAX_PARTITION_TYPES = 32;

  /** The field of a device that says what it takes of its node, as Kubernetes 1.37 has it and the client not yet. */
  static final String NODE_RESOURCES = "nodeAllocatableResources";

  private SlicePlan() {}

  /** The specs for that node; none if its cards cannot be handed out. */
  public static List<ResourceSliceSpec> of(GpuHost host) {
    return of(host.name(), cards(host));
  }

  /** How the node's cards are to be offered; none if they cannot be handed out. */
  static List<PublishedCard> cards(GpuHost host) {
    return cards(host, SliceFeature.NONE, 0);
  }

  /**
   * The same with what only some API servers keep.
   *
   * @param hostMemory bytes of the node's memory that a container takes for each device besides what its pod requests
   */
  static List<PublishedCard> cards(GpuHost host, Set<SliceFeature> features, long hostMemory) {
    if (!host.isReady()) {
      return List.of();
    }
    return host.devicesByCard().values().stream().map(devices -> card(devices, host, features, hostMemory)).toList();
  }

  private static PublishedCard card(
      List<Device> devices,
      GpuHost host,
      Set<SliceFeature> features,
      long hostMemory) {
    @Nullable CardCounters counters = hasCounters(host) ? new CardCounters(devices) : null;
    return new PublishedCard(
        devices.getFirst().name().index(),
        devices.stream().map(device -> device(device, host, counters, features, hostMemory)).toList(),
        Optional.ofNullable(counters).map(CardCounters::set));
  }

  /** The specs of a node that offers these cards, in this order. */
  static List<ResourceSliceSpec> of(String node, List<PublishedCard> cards) {
    return of(node, cards, (_, _) -> 0, SliceFeature.NONE);
  }

  /**
   * The same with each slice's cards in that order, and with what only some API servers keep. Which cards are together
   * in a slice does not follow from it: else a card could move from slice to slice whenever something is allocated.
   */
  static List<ResourceSliceSpec> of(
      String node,
      List<PublishedCard> cards,
      Comparator<PublishedCard> order,
      Set<SliceFeature> features) {
    List<ResourceSliceSpec> specs = new ArrayList<>();
    byCards(cards, order).forEach(part -> specs.add(ofDevices(node, part, features)));
    List<CounterSet> sets = cards.stream().flatMap(card -> card.counters().stream()).toList();
    parts(sets, MAX_COUNTER_SETS).forEach(part -> specs.add(spec(node).withSharedCounters(part).build()));
    return specs.stream()
        .map(s -> new ResourceSliceSpecBuilder(s).editPool().withResourceSliceCount((long) specs.size()).endPool()
            .build())
        .toList();
  }

  /**
   * A slice of these devices. It names the attribute by which they are counted if all of those have it that consume
   * counters, as API servers demand: a card that waits may still be as it was published before. Each is a type of its
   * own, for devices of a type must take the same of the same counters (KEP-5677), and each card has its own.
   */
  private static ResourceSliceSpec ofDevices(
      String node,
      List<io.fabric8.kubernetes.api.model.resource.v1.Device> devices,
      Set<SliceFeature> features) {
    ResourceSliceSpecBuilder slice = spec(node).withDevices(devices);
    var counted = devices.stream().filter(device -> !device.getConsumesCounters().isEmpty()).toList();
    if (features.contains(SliceFeature.PARTITION_TYPES) && !counted.isEmpty()
        && counted.stream().allMatch(device -> device.getAttributes().containsKey(PARTITION_TYPE))) {
      slice.addToAdditionalProperties(PARTITION_TYPE_ATTRIBUTE, Driver.NAME + "/" + PARTITION_TYPE);
    }
    return slice.build();
  }

  /**
   * The devices in parts that fit a slice. All of a card stay together as far as they fit, so that its change is the
   * change of one slice; how many cards share one follows from how much each is offered as, which its health does not
   * change.
   */
  private static List<List<io.fabric8.kubernetes.api.model.resource.v1.Device>> byCards(
      List<PublishedCard> cards,
      Comparator<PublishedCard> order) {
    List<List<io.fabric8.kubernetes.api.model.resource.v1.Device>> slices = new ArrayList<>();
    List<PublishedCard> open = new ArrayList<>();
    for (PublishedCard card : cards) {
      if (!open.isEmpty() && devices(open).size() + card.devices().size() > MAX_DEVICES) {
        slices.add(devices(open.stream().sorted(order).toList()));
        open = new ArrayList<>();
      }
      if (card.devices().size() > MAX_DEVICES) {
        slices.addAll(parts(card.devices(), MAX_DEVICES));
      } else {
        open.add(card);
      }
    }
    if (!open.isEmpty()) {
      slices.add(devices(open.stream().sorted(order).toList()));
    }
    return slices;
  }

  private static List<io.fabric8.kubernetes.api.model.resource.v1.Device> devices(List<PublishedCard> cards) {
    return cards.stream().flatMap(card -> card.devices().stream()).toList();
  }

  /**
   * Whether some of the slices have counters: kube-scheduler allocates, and devices of a card exclude each other, for
   * it is offered in several ways, or as MIG instances of which only some can be made.
   */
  public static boolean hasCounters(GpuHost host) {
    return host.allocator() == Allocator.Scheduler
        && (host.devices().stream().map(Device::mode).distinct().count() > 1
            || host.devices().stream().anyMatch(SlicePlan::isToBeMade));
  }

  private static <T> List<List<T>> parts(List<T> all, int size) {
    List<List<T>> parts = new ArrayList<>();
    for (int start = 0; start < all.size(); start += size) {
      parts.add(all.subList(start, Math.min(all.size(), start + size)));
    }
    return parts;
  }

  private static ResourceSliceSpecBuilder spec(String node) {
    return new ResourceSliceSpecBuilder().withDriver(Driver.NAME).withNodeName(node).withNewPool()
        .withName(Driver.poolOf(node)).endPool();
  }

  private static Map<String, Object> overhead(long hostMemory) {
    return Map.of("memory", Map.of("overhead", Map.of("perContainer", Bytes.quantity(hostMemory).toString())));
  }

  private static io.fabric8.kubernetes.api.model.resource.v1.Device device(
      Device device,
      GpuHost host,
      @Nullable CardCounters counters,
      Set<SliceFeature> features,
      long hostMemory) {
    Map<String, io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute> attributes = new TreeMap<>();
    device.attributes().forEach((name, value) -> attributes.put(name, attribute(value)));
    Map<String, DeviceCapacity> capacities = new TreeMap<>();
    device.capacities().forEach((name, value) -> capacities.put(name, capacity(name, value)));
    DeviceBuilder builder =
        new DeviceBuilder()
            .withName(device.name().toString())
            .withAttributes(attributes)
            .withCapacity(capacities)
            .withTaints(taints(device, host.allocator()));
    if (device.allowsMultipleAllocations()) {
      builder.withAllowMultipleAllocations(true);
    }
    if (counters != null) {
      builder.withConsumesCounters(
          features.contains(SliceFeature.COMPATIBILITY_GROUPS) ? counters.withGroups(device) : counters.of(device));
      if (host.devices().size() <= MAX_PARTITION_TYPES) {
        // with the gate off too: the devices are then the same whenever the gate is tried again
        builder.addToAttributes(PARTITION_TYPE, attribute(new AttributeValue.Text(device.name().toString())));
      }
    }
    if (features.contains(SliceFeature.BINDING_CONDITIONS) && host.allocator() == Allocator.Scheduler
        && isToBeMade(device)) {
      builder.withBindsToNode(true)
          .withBindingConditions(InstanceCondition.InstanceMade.name())
          .withBindingFailureConditions(InstanceCondition.InstanceFailed.name());
    }
    if (hostMemory > 0 && features.contains(SliceFeature.NODE_RESOURCES)) {
      builder.addToAdditionalProperties(NODE_RESOURCES, overhead(hostMemory));
    }
    return builder.build();
  }

  /** Whether it is a MIG instance that nobody has made yet. */
  private static boolean isToBeMade(Device device) {
    return device.name() instanceof DeviceName.Mig mig && device.card().gpu().staticMigInstance(mig.slot()).isEmpty();
  }

  private static io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute attribute(AttributeValue value) {
    var attribute = new io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute();
    switch (value) {
      case AttributeValue.Text(String text) -> attribute.setString(text);
      case AttributeValue.Int(long number) -> attribute.setInt(number);
      case AttributeValue.Flag(boolean flag) -> attribute.setBool(flag);
      case AttributeValue.Version(var version) -> attribute.setVersion(version.toString());
    }
    return attribute;
  }

  private static DeviceCapacity capacity(String name, Capacity capacity) {
    DeviceCapacityBuilder builder = new DeviceCapacityBuilder().withValue(quantity(name, capacity.total()));
    capacity.policy().ifPresent(policy -> builder.withRequestPolicy(policy(name, policy)));
    return builder.build();
  }

  private static CapacityRequestPolicy policy(String name, Capacity.RequestPolicy policy) {
    var builder =
        new CapacityRequestPolicyBuilder()
            .withDefault(quantity(name, policy.whenNotAsked()))
            .withNewValidRange()
            .withMin(quantity(name, policy.min()))
            .withMax(quantity(name, policy.max()));
    policy.step().ifPresent(step -> builder.withStep(quantity(name, step)));
    return builder.endValidRange().build();
  }

  private static Quantity quantity(String capacity, long amount) {
    return capacity.equals(CapacityName.MEMORY) ? Bytes.quantity(amount) : new Quantity(Long.toString(amount));
  }

  private static List<DeviceTaint> taints(Device device, Allocator allocator) {
    List<DeviceTaint> taints = new ArrayList<>();
    if (allocator == Allocator.Controller) {
      taints.add(
          new DeviceTaintBuilder()
              .withKey(Driver.ALLOCATOR_TAINT)
              .withValue(Driver.CONTROLLER_TAINT_VALUE)
              .withEffect("NoSchedule")
              .build());
    }
    for (Device.Taint taint : device.taints()) {
      if (!taint.isPublished()) {
        continue; // who reads slices reads the rules, too
      }
      DeviceTaintBuilder builder = new DeviceTaintBuilder().withKey(taint.key()).withEffect(taint.effect());
      taints.add((taint.value().isEmpty() ? builder : builder.withValue(taint.value())).build());
    }
    return taints;
  }
}
