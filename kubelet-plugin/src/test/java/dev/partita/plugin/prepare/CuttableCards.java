package dev.partita.plugin.prepare;

import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.MigProfile;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSigns;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.XidEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Cards that outlive the plugin; the last one can be cut, all of them have a MIG mode. */
final class CuttableCards implements CardReader {
  final Map<Integer, MigControl.GpuInstance> instances = new TreeMap<>();
  /** UUIDs of the cards that answer, in the order of their device nodes. */
  List<String> present = List.of("GPU-0", "GPU-1", "GPU-2");

  /** What NVML lists, by the card's UUID; a card that is not there does not answer. */
  final Map<String, List<CardUser>> users =
      new TreeMap<>(Map.of("GPU-0", List.of(), "GPU-1", List.of(), "GPU-2", List.of()));

  boolean driverLoaded = true;
  boolean migOn;
  boolean inUse;
  boolean limitsMemory;
  /** Happens while the driver is asked for a limit. */
  volatile Runnable whileLimitIsRead = () -> {};
  boolean refusesLimits;

  /** By the cgroup's folder and the card. */
  final Map<String, Long> limits = new TreeMap<>();

  @Override
  public CardReading read() {
    return new CardReading("580.1", Optional.of("13.0"), present.stream().map(this::card).toList(), List.of());
  }

  @Override
  public Map<String, List<ProcessMemory>> processes() {
    return Map.of();
  }

  @Override
  public Map<String, Map<CardFigure, Double>> figures() {
    return Map.of();
  }

  @Override
  public List<ProcessSample> samples(String uuid, long newerThan) {
    return List.of();
  }

  @Override
  public Optional<XidEvent> awaitXid(Duration atMost) {
    return Optional.empty();
  }

  @Override
  public List<CardUser> users(String card) throws NvmlException {
    List<CardUser> listed = users.get(card);
    if (listed == null) {
      throw new NvmlException("nvmlDeviceGetComputeRunningProcesses_v3", NvmlException.GPU_IS_LOST, "GPU is lost");
    }
    return listed;
  }

  @Override
  public MigState mig(String card) throws NvmlException {
    if (!driverLoaded) {
      throw new NvmlException("nvmlInit_v2", NvmlException.DRIVER_NOT_LOADED, "driver not loaded");
    }
    if (!card.equals("GPU-2")) {
      throw new NvmlException("nvmlDeviceGetMigMode", NvmlException.NOT_SUPPORTED, "not supported");
    }
    return new MigState(migOn, List.copyOf(instances.values()));
  }

  /** An instance of 32 GiB that somebody has made by hand, with one compute instance of all of it. */
  GpuInstance staticAt(int id, int start) {
    migOn = true;
    return new GpuInstance(id, "2g.35gb", start, 2, List.of(new ComputeInstance(0, true, uuidOf(id, start))));
  }

  /** As drivers name them: the same for an instance that is made again as it was. */
  static String uuidOf(int id, int start) {
    return "MIG-00000000-0000-5000-8000-%06d%06d".formatted(id, start);
  }

  @Override
  public void switchMig(String card, boolean on) {
    migOn = on;
  }

  @Override
  public void makeInstance(String card, String profile, int start) {
    instances.put(5, new GpuInstance(5, profile, start, 2, List.of(new ComputeInstance(0, true, "MIG-5"))));
  }

  @Override
  public void endInstance(String card, int gpuInstance) throws NvmlException {
    if (inUse) {
      throw new NvmlException("nvmlGpuInstanceDestroy", 19, "in use");
    }
    instances.remove(gpuInstance);
  }

  @Override
  public OptionalLong memoryLimit(String card, Path cgroup) {
    whileLimitIsRead.run();
    Long limit = limits.get(cgroup + " " + card);
    return limit == null ? OptionalLong.empty() : OptionalLong.of(limit);
  }

  @Override
  public void limitMemory(String card, Path cgroup, long bytes) throws NvmlException {
    if (refusesLimits) {
      throw new NvmlException("nvmlDeviceSetMemoryLimits_v1", 17, "operating system error");
    }
    if (bytes == NO_LIMIT) {
      limits.remove(cgroup + " " + card);
    } else {
      limits.put(cgroup + " " + card, bytes);
    }
  }

  @Override
  public void close() {}

  private CardReading.Card card(String uuid) {
    int index = present.indexOf(uuid);
    List<MigProfile> profiles =
        uuid.equals("GPU-2")
            ? List.of(new MigProfile("2g.35gb", 32L << 30, 32, 2, 3,
                List.of(new MigProfile.Placement(0, 2), new MigProfile.Placement(4, 2))))
            : List.of();
    return new CardReading.Card(
        index, uuid, index, GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"),
        new CardReading.Memory(141L << 30, 0),
        new CardReading.Topology(Optional.empty(), Optional.empty(), CardReading.Nvlink.NONE),
        new CardReading.Mig(profiles, migOn && !profiles.isEmpty(),
            Optional.of(profiles.isEmpty() ? List.of() : List.copyOf(instances.values()))),
        limitsMemory, CardSigns.WELL);
  }
}
