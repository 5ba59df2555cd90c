package dev.partita.plugin.nvml;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * NVML from one file. Only functions of the public nvml.h are used; where a driver lacks a newer one, the older one or no
 * answer is taken. Every instance has a library of its own, so several can live in one process.
 */
public final class NvmlLibrary implements CardReader {
  private static final int RTLD_NOW_LOCAL = 2;
  private static final int TEXT_BYTES = 96; // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the longest text in use
  private static final int PCI_V3_BYTES = 68;
  private static final int PCI_V3_BUS_ID = 36; // offset of busId, 32 bytes, in nvmlPciInfo_t
  private static final int LINKS_MAX = 18; // NVML_NVLINK_MAX_LINKS
  private static final int REMOTE_GPU = 0; // nvmlIntNvLinkDeviceType_t
  private static final int REMOTE_SWITCH = 2;
  private static final int FABRIC_BYTES = 28; // nvmlGpuFabricInfo_t
  private static final int FABRIC_STATE_COMPLETED = 3;

  private final NativeLibrary library;
  private final Map<String, Optional<Function>> functions = new HashMap<>();

  private NvmlLibrary(NativeLibrary library) {
    this.library = library;
  }

  /** Loads the library and starts it. */
  public static NvmlLibrary open(Path file) throws NvmlException {
    NativeLibrary library;
    try {
      library = NativeLibrary.getInstance(file.toString(), Map.of(Library.OPTION_OPEN_FLAGS, RTLD_NOW_LOCAL));
    } catch (UnsatisfiedLinkError e) {
      throw new NvmlException("loading " + file, 0, String.valueOf(e.getMessage()));
    }
    NvmlLibrary nvml = new NvmlLibrary(library);
    try {
      nvml.require(new String[] {"nvmlInit_v2", "nvmlInit"});
    } catch (NvmlException e) {
      library.close();
      throw e;
    }
    return nvml;
  }

  @Override
  public CardReading read() throws NvmlException {
    IntByReference count = new IntByReference();
    require(new String[] {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, count);
    List<CardReading.Card> cards = new ArrayList<>();
    List<CardReading.Fault> faults = new ArrayList<>();
    for (int index = 0; index < count.getValue(); index++) {
      try {
        cards.add(card(index));
      } catch (NvmlException e) {
        faults.add(new CardReading.Fault(index, e.code(), String.valueOf(e.getMessage())));
      }
    }
    IntByReference cuda = new IntByReference();
    Optional<String> cudaVersion =
        answers(new String[] {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}, cuda)
            ? Optional.of(NvmlNames.cudaVersion(cuda.getValue()))
            : Optional.empty();
    return new CardReading(text("nvmlSystemGetDriverVersion"), cudaVersion, cards, faults);
  }

  @Override
  public void close() {
    answers(new String[] {"nvmlShutdown"});
    library.close();
  }

  private CardReading.Card card(int index) throws NvmlException {
    PointerByReference handle = new PointerByReference();
    require(new String[] {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, index, handle);
    Pointer device = handle.getValue();
    IntByReference minor = new IntByReference();
    require(new String[] {"nvmlDeviceGetMinorNumber"}, device, minor);
    Memory memory = zeros(24); // nvmlMemory_t: total, free, used
    require(new String[] {"nvmlDeviceGetMemoryInfo"}, device, memory);
    IntByReference major = new IntByReference();
    IntByReference minorCapability = new IntByReference();
    boolean capable = answers(new String[] {"nvmlDeviceGetCudaComputeCapability"}, device, major, minorCapability);
    return new CardReading.Card(
        index,
        text("nvmlDeviceGetUUID", device),
        minor.getValue(),
        text("nvmlDeviceGetName", device),
        NvmlNames.brand(number("nvmlDeviceGetBrand", device).orElse(0)),
        NvmlNames.architecture(number("nvmlDeviceGetArchitecture", device).orElse(0)),
        capable ? major.getValue() + "." + minorCapability.getValue() : "0.0",
        memory.getLong(0),
        busId(device),
        numaNode(device),
        new CardReading.Nvlink(fabric(device), linksTo(device, REMOTE_SWITCH), peers(device)));
  }

  private Optional<String> busId(Pointer device) {
    Memory pci = zeros(PCI_V3_BYTES);
    if (answers(new String[] {"nvmlDeviceGetPciInfo_v3"}, device, pci)) {
      return Optional.of(NvmlNames.busId(pci.getString(PCI_V3_BUS_ID, "US-ASCII")));
    }
    return answers(new String[] {"nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}, device, pci)
        ? Optional.of(NvmlNames.busId(pci.getString(0, "US-ASCII")))
        : Optional.empty();
  }

  /** The one NUMA node that the card's memory affinity names; where the card is a NUMA node itself, that one. */
  private Optional<Integer> numaNode(Pointer device) {
    Memory set = zeros(Long.BYTES);
    if (answers(new String[] {"nvmlDeviceGetMemoryAffinity"}, device, 1, set, 0) && Long.bitCount(set.getLong(0)) == 1) {
      return Optional.of(Long.numberOfTrailingZeros(set.getLong(0)));
    }
    return number("nvmlDeviceGetNumaNodeId", device);
  }

  private boolean linksTo(Pointer device, int remoteType) {
    for (int link = 0; link < LINKS_MAX; link++) {
      if (isActive(device, link) && remoteType(device, link) == remoteType) {
        return true;
      }
    }
    return false;
  }

  private List<String> peers(Pointer device) {
    List<String> peers = new ArrayList<>();
    for (int link = 0; link < LINKS_MAX; link++) {
      Memory pci = zeros(PCI_V3_BYTES);
      if (isActive(device, link)
          && remoteType(device, link) == REMOTE_GPU
          && answers(new String[] {"nvmlDeviceGetNvLinkRemotePciInfo_v2"}, device, link, pci)) {
        String peer = NvmlNames.busId(pci.getString(PCI_V3_BUS_ID, "US-ASCII"));
        if (!peers.contains(peer)) {
          peers.add(peer);
        }
      }
    }
    return peers;
  }

  private boolean isActive(Pointer device, int link) {
    IntByReference state = new IntByReference();
    return answers(new String[] {"nvmlDeviceGetNvLinkState"}, device, link, state) && state.getValue() == 1;
  }

  private int remoteType(Pointer device, int link) {
    IntByReference type = new IntByReference();
    return answers(new String[] {"nvmlDeviceGetNvLinkRemoteDeviceType"}, device, link, type) ? type.getValue() : REMOTE_GPU;
  }

  private Optional<String> fabric(Pointer device) {
    Memory fabric = zeros(FABRIC_BYTES);
    if (!answers(new String[] {"nvmlDeviceGetGpuFabricInfo"}, device, fabric)
        || fabric.getByte(24) != FABRIC_STATE_COMPLETED
        || fabric.getInt(16) != 0) {
      return Optional.empty();
    }
    java.util.UUID cluster =
        new java.util.UUID(Long.reverseBytes(fabric.getLong(0)), Long.reverseBytes(fabric.getLong(8)));
    boolean known = cluster.getMostSignificantBits() != 0 || cluster.getLeastSignificantBits() != 0;
    return known ? Optional.of(cluster + "." + Integer.toUnsignedString(fabric.getInt(20))) : Optional.empty();
  }

  private String text(String function, Object... leading) throws NvmlException {
    Memory text = zeros(TEXT_BYTES);
    Object[] arguments = java.util.Arrays.copyOf(leading, leading.length + 2);
    arguments[leading.length] = text;
    arguments[leading.length + 1] = TEXT_BYTES - 1;
    require(new String[] {function}, arguments);
    return text.getString(0, "UTF-8");
  }

  private Optional<Integer> number(String function, Pointer device) {
    IntByReference value = new IntByReference();
    return answers(new String[] {function}, device, value) ? Optional.of(value.getValue()) : Optional.empty();
  }

  /** Calls the first of the functions that the library has. */
  private void require(String[] names, Object... arguments) throws NvmlException {
    Function function = first(names);
    if (function == null) {
      throw new NvmlException(names[0], 0, "this driver's NVML does not have the function");
    }
    int code = function.invokeInt(arguments);
    if (code != 0) {
      throw new NvmlException(names[0], code, describe(code));
    }
  }

  /** Whether the library has the function and it succeeded. */
  private boolean answers(String[] names, Object... arguments) {
    Function function = first(names);
    return function != null && function.invokeInt(arguments) == 0;
  }

  private @Nullable Function first(String[] names) {
    for (String name : names) {
      Optional<Function> function = functions.computeIfAbsent(name, this::find);
      if (function.isPresent()) {
        return function.get();
      }
    }
    return null;
  }

  private Optional<Function> find(String name) {
    try {
      return Optional.of(library.getFunction(name));
    } catch (UnsatisfiedLinkError e) {
      return Optional.empty();
    }
  }

  private String describe(int code) {
    Function function = first(new String[] {"nvmlErrorString"});
    return function == null ? "error" : function.invokeString(new Object[] {code}, false);
  }

  private static Memory zeros(int bytes) {
    Memory memory = new Memory(bytes);
    memory.clear();
    return memory;
  }
}
