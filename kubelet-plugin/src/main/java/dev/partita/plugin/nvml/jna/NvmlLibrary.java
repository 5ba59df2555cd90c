package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.MigProfile;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.XidEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * NVML, loaded from one file. Only functions of the public nvml.h are used. Where a driver lacks a newer function, the
 * older one is called, or there is no answer. Every instance has a library of its own, so several can live in one
 * process.
 */
public final class NvmlLibrary implements CardReader {
  private static final Logger LOG = LoggerFactory.getLogger(NvmlLibrary.class);
  private static final int TEXT_BYTES = 96; // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the longest text in use
  private static final int MEMORY_V2_BYTES = 40; // nvmlMemory_v2_t: version, total, reserved, free, used
  private static final int MEMORY_V2_RESERVED = 16;
  private static final Path CGROUPS = Path.of("/sys/fs/cgroup"); // where NVML wants cgroup v2

  private final NvmlCalls nvml;
  private final NvmlActivity activity;
  private final Map<String, List<MigProfile>> migProfiles = new HashMap<>();
  private volatile Map<Pointer, String> handles = Map.of();
  private @Nullable NvmlEvents events;

  private NvmlLibrary(NvmlCalls nvml) {
    this.nvml = nvml;
    this.activity = new NvmlActivity(nvml);
  }

  /** Loads the library and starts it. */
  public static NvmlLibrary open(Path file) throws NvmlException {
    NvmlCalls nvml = NvmlCalls.load(file);
    try {
      nvml.require(new String[]{"nvmlInit_v2", "nvmlInit"});
    } catch (NvmlException e) {
      nvml.unload();
      throw e;
    }
    NvmlLibrary library = new NvmlLibrary(nvml);
    try {
      library.events = NvmlEvents.of(nvml, library.handles()); // at once: later ones would miss what comes until then
    } catch (NvmlException e) {
      LOG.debug("no events yet: {}", e.getMessage());
    }
    return library;
  }

  @Override
  public CardReading read() throws NvmlException {
    int count = count();
    List<CardReading.Card> cards = new ArrayList<>();
    List<CardReading.Fault> faults = new ArrayList<>();
    for (int index = 0; index < count; index++) {
      try {
        cards.add(card(index));
      } catch (NvmlException e) {
        faults.add(new CardReading.Fault(index, e.code(), String.valueOf(e.getMessage())));
      }
    }
    IntByReference cuda = new IntByReference();
    Optional<String> cudaVersion =
        nvml.answers(new String[]{"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}, cuda)
            ? Optional.of(NvmlNames.cudaVersion(cuda.getValue()))
            : Optional.empty();
    return new CardReading(text("nvmlSystemGetDriverVersion"), cudaVersion, cards, faults);
  }

  @Override
  public Map<String, List<ProcessMemory>> processes() throws NvmlException {
    Map<String, List<ProcessMemory>> processes = new TreeMap<>();
    for (Map.Entry<Pointer, String> card : handles().entrySet()) {
      try {
        processes.put(card.getValue(), NvmlProcesses.on(nvml, card.getKey()));
      } catch (NvmlException e) {
        LOG.debug("card {} does not say who uses it: {}", card.getValue(), e.getMessage());
      }
    }
    return processes;
  }

  @Override
  public Map<String, Map<CardFigure, Double>> figures() throws NvmlException {
    Map<String, Map<CardFigure, Double>> figures = new TreeMap<>();
    handles().forEach((device, uuid) -> {
      Map<CardFigure, Double> ofCard = NvmlFigures.of(nvml, device);
      ofCard.putAll(activity.of(uuid, device));
      figures.put(uuid, ofCard);
    });
    return figures;
  }

  @Override
  public List<CardUser> users(String card) throws NvmlException {
    PointerByReference device = new PointerByReference();
    nvml.require(new String[]{"nvmlDeviceGetHandleByUUID"}, card, device);
    return NvmlProcesses.users(nvml, device.getValue());
  }

  @Override
  public List<ProcessSample> samples(String uuid, long newerThan) throws NvmlException {
    PointerByReference device = new PointerByReference();
    nvml.require(new String[]{"nvmlDeviceGetHandleByUUID"}, uuid, device);
    return NvmlProcesses.samples(nvml, device.getValue(), newerThan);
  }

  @Override
  public Optional<XidEvent> awaitXid(Duration atMost) throws NvmlException {
    NvmlEvents set = events;
    if (set == null) {
      set = NvmlEvents.of(nvml, handles());
      events = set;
    }
    try {
      return set.await(atMost);
    } catch (NvmlException e) {
      events = null;
      set.free();
      throw e;
    }
  }

  @Override
  public MigState mig(String card) throws NvmlException {
    return migOf(card).state();
  }

  @Override
  public void switchMig(String card, boolean on) throws NvmlException {
    migOf(card).switchTo(on);
  }

  @Override
  public void makeInstance(String card, String profile, int start) throws NvmlException {
    migOf(card).make(profile, start);
  }

  @Override
  public void endInstance(String card, int gpuInstance) throws NvmlException {
    migOf(card).end(gpuInstance);
  }

  @Override
  public OptionalLong memoryLimit(String card, Path cgroup) throws NvmlException {
    return limitsOf(card).hardLimit(cgroup);
  }

  @Override
  public void limitMemory(String card, Path cgroup, long bytes) throws NvmlException {
    limitsOf(card).set(cgroup, bytes);
  }

  private NvmlMemoryLimits limitsOf(String card) throws NvmlException {
    PointerByReference device = new PointerByReference();
    nvml.require(new String[]{"nvmlDeviceGetHandleByUUID"}, card, device);
    return new NvmlMemoryLimits(nvml, device.getValue());
  }

  @Override
  public void close() {
    NvmlEvents set = events;
    if (set != null) {
      set.free();
    }
    activity.close();
    nvml.answers(new String[]{"nvmlShutdown"});
    nvml.unload();
  }

  private CardReading.Card card(int index) throws NvmlException {
    Pointer device = device(index);
    IntByReference minor = new IntByReference();
    nvml.require(new String[]{"nvmlDeviceGetMinorNumber"}, device, minor);
    String uuid = text("nvmlDeviceGetUUID", device);
    return new CardReading.Card(
        index,
        uuid,
        minor.getValue(),
        product(device),
        memory(device),
        new CardReading.Topology(busId(device), numaNode(device), new NvmlNvlink(nvml, device).read()),
        mig(uuid, device),
        new NvmlMemoryLimits(nvml, device).areKnownOf(CGROUPS),
        new NvmlHealth(nvml, device).read());
  }

  private GpuProduct product(Pointer device) throws NvmlException {
    IntByReference major = new IntByReference();
    IntByReference minor = new IntByReference();
    boolean capable = nvml.answers(new String[]{"nvmlDeviceGetCudaComputeCapability"}, device, major, minor);
    return GpuProduct.named(
        text("nvmlDeviceGetName", device),
        NvmlNames.brand(number("nvmlDeviceGetBrand", device).orElse(0)),
        NvmlNames.architecture(number("nvmlDeviceGetArchitecture", device).orElse(0)),
        capable ? major.getValue() + "." + minor.getValue() : "0.0");
  }

  private CardReading.Memory memory(Pointer device) throws NvmlException {
    Memory memory = NvmlCalls.zeros(24); // nvmlMemory_t: total, free, used
    nvml.require(new String[]{"nvmlDeviceGetMemoryInfo"}, device, memory);
    return new CardReading.Memory(memory.getLong(0), reserved(device));
  }

  private CardReading.Mig mig(String uuid, Pointer device) {
    NvmlMig mig = new NvmlMig(nvml, device);
    return new CardReading.Mig(migProfiles(uuid, device), mig.isOnIfKnown(), mig.instancesIfKnown());
  }

  /** They never change; a card that tells none may do so once its MIG mode is on. */
  private List<MigProfile> migProfiles(String uuid, Pointer device) {
    List<MigProfile> known = migProfiles.getOrDefault(uuid, List.of());
    if (known.isEmpty()) {
      known = new NvmlMig(nvml, device).profiles();
      migProfiles.put(uuid, known);
    }
    return known;
  }

  private NvmlMig migOf(String card) throws NvmlException {
    PointerByReference device = new PointerByReference();
    nvml.require(new String[]{"nvmlDeviceGetHandleByUUID"}, card, device);
    return new NvmlMig(nvml, device.getValue());
  }

  /**
   * The UUIDs of the cards that answer, by handle. NVML gives a card one handle until nvmlShutdown, so that nothing is
   * asked again of cards that have all answered.
   */
  private Map<Pointer, String> handles() throws NvmlException {
    int count = count();
    Map<Pointer, String> known = handles;
    if (known.size() == count) {
      return known;
    }
    Map<Pointer, String> answering = new HashMap<>();
    for (int index = 0; index < count; index++) {
      try {
        Pointer device = device(index);
        answering.put(device, text("nvmlDeviceGetUUID", device));
      } catch (NvmlException e) {
        LOG.debug("card {} does not answer: {}", index, e.getMessage());
      }
    }
    handles = Map.copyOf(answering);
    return handles;
  }

  private int count() throws NvmlException {
    IntByReference count = new IntByReference();
    nvml.require(new String[]{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, count);
    return count.getValue();
  }

  private Pointer device(int index) throws NvmlException {
    PointerByReference handle = new PointerByReference();
    nvml.require(new String[]{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, index, handle);
    return handle.getValue();
  }

  /** What the driver keeps for itself: only the later version of the function tells that apart from what is used. */
  private long reserved(Pointer device) {
    Memory memory = NvmlCalls.zeros(MEMORY_V2_BYTES);
    memory.setInt(0, MEMORY_V2_BYTES | 2 << 24); // nvmlMemory_v2, the structure's version
    return nvml.answers(new String[]{"nvmlDeviceGetMemoryInfo_v2"}, device, memory)
        ? Math.max(0, memory.getLong(MEMORY_V2_RESERVED))
        : 0;
  }

  private Optional<String> busId(Pointer device) {
    Memory pci = NvmlCalls.zeros(NvmlNvlink.PCI_V3_BYTES);
    if (nvml.answers(new String[]{"nvmlDeviceGetPciInfo_v3"}, device, pci)) {
      return Optional.of(NvmlNames.busId(pci.getString(NvmlNvlink.PCI_V3_BUS_ID, "US-ASCII")));
    }
    return nvml.answers(new String[]{"nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}, device, pci)
        ? Optional.of(NvmlNames.busId(pci.getString(0, "US-ASCII")))
        : Optional.empty();
  }

  /**
   * The NUMA node of the card, if there is just one to which its memory belongs; where the card is a NUMA node itself,
   * that one.
   */
  private Optional<Integer> numaNode(Pointer device) {
    Memory set = NvmlCalls.zeros(Long.BYTES);
    if (nvml.answers(new String[]{"nvmlDeviceGetMemoryAffinity"}, device, 1, set, 0)
        && Long.bitCount(set.getLong(0)) == 1) {
      return Optional.of(Long.numberOfTrailingZeros(set.getLong(0)));
    }
    return number("nvmlDeviceGetNumaNodeId", device);
  }

  private String text(String function, Object... leading) throws NvmlException {
    Memory text = NvmlCalls.zeros(TEXT_BYTES);
    Object[] arguments = java.util.Arrays.copyOf(leading, leading.length + 2);
    arguments[leading.length] = text;
    arguments[leading.length + 1] = TEXT_BYTES - 1;
    nvml.require(new String[]{function}, arguments);
    return text.getString(0, "UTF-8");
  }

  private Optional<Integer> number(String function, Pointer device) {
    IntByReference value = new IntByReference();
    return nvml.answers(new String[]{function}, device, value) ? Optional.of(value.getValue()) : Optional.empty();
  }
}
