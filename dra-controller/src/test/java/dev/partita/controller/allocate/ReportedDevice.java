package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest.Toleration;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device as it follows from its node's report alone, and what a request means by it: nothing of what it says comes
 * from the inventory, the selectors or the allocator, which are checked with it.
 *
 * @param allocatable bytes that shares of its card may hold together
 * @param profile of a MIG instance
 * @param start first memory slice of a MIG instance
 * @param size memory slices of a MIG instance
 */
record ReportedDevice(
    String node,
    Gpu gpu,
    long allocatable,
    DeviceMode mode,
    Optional<MigProfile> profile,
    int start,
    int size) {
  private static final long MIB = 1L << 20;
  private static final Pattern EQUALS = Pattern.compile("\\.(\\w+) == \"([^\"]+)\"");

  /** Everything that the node offers, card by card. */
  static List<ReportedDevice> of(GpuNode node) {
    String name = node.getMetadata().getName();
    List<PublishedMode> said = node.getSpec().publish();
    List<PublishedMode> modes = said.isEmpty() ? List.of(PublishedMode.Whole, PublishedMode.Shared) : said;
    List<ReportedDevice> devices = new ArrayList<>();
    for (Gpu gpu : Objects.requireNonNull(node.getStatus()).gpus()) {
      long allocatable = allocatable(node, gpu);
      for (PublishedMode mode : modes) {
        switch (mode) {
          case Whole ->
              devices.add(new ReportedDevice(name, gpu, allocatable, DeviceMode.WHOLE, Optional.empty(), 0, 0));
          case Shared ->
              devices.add(new ReportedDevice(name, gpu, allocatable, DeviceMode.SHARED, Optional.empty(), 0, 0));
          case MigShared -> {} // no card here is cut by hand
          case Unknown -> {}
          case Mig -> gpu.migProfiles().forEach(
              profile -> profile.placements().forEach(
                  place -> devices.add(
                      new ReportedDevice(name, gpu, allocatable, DeviceMode.MIG, Optional.of(profile), place.start(),
                          place.size()))));
        }
      }
    }
    return devices;
  }

  private static long allocatable(GpuNode node, Gpu gpu) {
    long reserved = node.getSpec().reservedMemory() == null
        ? 0
        : node.getSpec().reservedMemory().getNumericalAmount().longValueExact();
    int allocated = Objects.requireNonNullElse(node.getSpec().memoryPercent(), 100);
    return BigInteger.valueOf(gpu.memoryBytes() - reserved).multiply(BigInteger.valueOf(allocated))
        .divide(BigInteger.valueOf(100)).longValueExact();
  }

  CardKey card() {
    return new CardKey(node, gpu.index());
  }

  String name() {
    return switch (mode) {
      case WHOLE -> "gpu-" + gpu.index();
      case SHARED -> "gpu-" + gpu.index() + "-shared";
      case MIG -> "gpu-" + gpu.index() + "-mig-" + profileName().replaceAll("[.+]", "-") + "-" + start;
      case MIG_SHARED -> throw new IllegalStateException("no card here is cut by hand");
    };
  }

  String profileName() {
    return profile.map(MigProfile::name).orElse("");
  }

  /** Its memory slices as bits. */
  long slices() {
    return ((1L << size) - 1) << start;
  }

  /** What it has of memory, in bytes. */
  long memory() {
    return switch (mode) {
      case WHOLE -> gpu.memoryBytes();
      case SHARED -> allocatable;
      case MIG, MIG_SHARED -> profile.orElseThrow().memoryBytes();
    };
  }

  Optional<String> attribute(String name) {
    return switch (name.substring(name.indexOf('/') + 1)) {
      case "mode" -> Optional.of(mode.attributeValue());
      case "model" -> Optional.of(gpu.model());
      case "uuid" -> Optional.of(gpu.uuid());
      case "numaNode" -> Optional.ofNullable(gpu.numaNode()).map(String::valueOf);
      case "nvlinkDomain" -> Optional.ofNullable(gpu.nvlinkDomain());
      case "profile" -> profile.map(MigProfile::name);
      default -> Optional.empty();
    };
  }

  boolean isHealthy() {
    return gpu.health().state() == GpuHealth.State.Healthy;
  }

  /** Whether the selectors, all of the form {@code attribute == "value"}, and the chosen and avoided cards mean it. */
  boolean isSelectedBy(DeviceRequest request) {
    return request.selectors().stream().allMatch(this::satisfies)
        && isChosen(gpu.model(), request.placement().models())
        && isChosen(gpu.uuid(), request.placement().uuids());
  }

  private boolean satisfies(Selector selector) {
    Matcher equals = EQUALS.matcher(selector.expression());
    if (!equals.find()) {
      throw new IllegalArgumentException("not an expression of this test: " + selector.expression());
    }
    return attribute(equals.group(1)).filter(equals.group(2)::equals).isPresent();
  }

  private static boolean isChosen(String value, Choice choice) {
    return (choice.choose().isEmpty() || choice.choose().contains(value)) && !choice.avoid().contains(value);
  }

  /** Whether its card is healthy, or its taint does not matter to the request. */
  boolean isTolerated(DeviceRequest request) {
    return isHealthy() || request.tolerations().stream().anyMatch(this::covers);
  }

  private boolean covers(Toleration toleration) {
    String reason = Objects.requireNonNull(gpu.health().reason()).replace(' ', '-');
    return toleration.key().orElse("gpu.partita.dev/unhealthy").equals("gpu.partita.dev/unhealthy")
        && toleration.value().orElse(reason).equals(reason)
        && toleration.effect().orElse("NoSchedule").equals("NoSchedule");
  }

  /** Whether it has what is asked for, whatever is taken of its card, and may be given out in that way. */
  boolean hasCapacity(DeviceRequest request) {
    if (Requests.isInTurn(request)) {
      return mode == DeviceMode.SHARED && !request.memory().isSaid() && request.cores().isEmpty();
    }
    if (Requests.isByMps(request) && mode != DeviceMode.SHARED) {
      return false;
    }
    if (mode == DeviceMode.SHARED) {
      return bytes(request) <= allocatable && request.cores().orElse(0) <= 100;
    }
    boolean forSharesOnly =
        request.cores().isPresent() || request.memory() instanceof MemoryRequest.Percent
            || request.oversubscribe() != 100;
    boolean exclusiveInstance = request.placement().exclusive() && mode == DeviceMode.MIG;
    return !forSharesOnly && !exclusiveInstance
        && !(request.memory() instanceof MemoryRequest.Bytes(long bytes) && bytes > memory());
  }

  /**
   * Bytes that a share for the request takes of the card: what is asked, a percentage in whole MiB, or all there is; 1
   * MiB at least.
   */
  long bytes(DeviceRequest request) {
    if (Requests.isInTurn(request)) {
      return 0; // it takes nothing that could be counted
    }
    return switch (request.memory()) {
      case MemoryRequest.Unsaid() -> allocatable;
      case MemoryRequest.Bytes(long bytes) -> Math.max(MIB, bytes);
      case MemoryRequest.Percent(int percent) when percent == 100 -> allocatable;
      case MemoryRequest.Percent(int percent) ->
          Math.max(MIB, BigInteger.valueOf(allocatable).multiply(BigInteger.valueOf(percent))
              .divide(BigInteger.valueOf(100 * MIB)).longValueExact() * MIB);
    };
  }

  /**
   * Of a card's devices those that a request means which could be had if nothing were taken: the whole, or shares, or
   * else instances.
   */
  static List<ReportedDevice> inInferredMode(List<ReportedDevice> ofCard, DeviceRequest request) {
    List<ReportedDevice> possible = ofCard.stream().filter(device -> device.isPossible(request)).toList();
    List<ReportedDevice> undivided = possible.stream().filter(device -> device.mode != DeviceMode.MIG).toList();
    if (undivided.isEmpty()) {
      return possible;
    }
    DeviceMode wanted = !request.memory().isSaid() && request.cores().isEmpty() ? DeviceMode.WHOLE : DeviceMode.SHARED;
    return undivided.size() == 1 ? undivided : undivided.stream().filter(device -> device.mode == wanted).toList();
  }

  /**
   * Of a card's devices those that have what a request says, and could be had if nothing were taken; who only looks
   * sees a whole card or its shares, not both.
   */
  static List<ReportedDevice> inAnyMode(List<ReportedDevice> ofCard, DeviceRequest request) {
    List<ReportedDevice> possible = ofCard.stream().filter(device -> device.isPossible(request)).toList();
    boolean once = request.access() == DeviceRequest.Access.MONITOR
        && possible.stream().anyMatch(device -> device.mode == DeviceMode.WHOLE);
    return once ? possible.stream().filter(device -> device.mode != DeviceMode.SHARED).toList() : possible;
  }

  private boolean isPossible(DeviceRequest request) {
    return isSelectedBy(request) && isTolerated(request) && hasCapacity(request);
  }

  static int wanted(DeviceRequest request) {
    return request.count() instanceof Count.Exactly(int devices) ? devices : 0;
  }
}
