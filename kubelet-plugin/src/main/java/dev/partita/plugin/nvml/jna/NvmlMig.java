package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import dev.partita.api.gpu.MigProfile;
import dev.partita.plugin.nvml.MigControl.ComputeInstance;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.MigControl.MigState;
import dev.partita.plugin.nvml.NvmlException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** NVML's functions for MIG, on one card. Layouts and numbers are those of nvml.h. */
final class NvmlMig {
  private static final Logger LOG = LoggerFactory.getLogger(NvmlMig.class);

  private static final int KINDS = 32; // more than NVML_GPU_INSTANCE_PROFILE_COUNT of any driver so far
  private static final int MAX_INSTANCES = 32; // more than any card has
  private static final int IN_USE = 19; // NVML_ERROR_IN_USE

  /**
   * nvmlGpuInstanceProfileInfo_v2_t: version, id, isP2pSupported, sliceCount, instanceCount, multiprocessorCount, five
   * numbers of engines, memorySizeMB, name.
   */
  private static final int PROFILE_BYTES = 152;

  private static final int PROFILE_ID = 4;
  private static final int PROFILE_SLICES = 12;
  private static final int PROFILE_COUNT = 16;
  private static final int PROFILE_MULTIPROCESSORS = 20;
  private static final int PROFILE_MEMORY = 48;
  private static final int PROFILE_NAME = 56;
  private static final int PLACEMENT_BYTES = 8; // nvmlGpuInstancePlacement_t: start, size
  private static final int GPU_INSTANCE_BYTES = 24; // nvmlGpuInstanceInfo_t: device, id, profileId, placement
  // nvmlComputeInstanceProfileInfo_t: id, sliceCount, and seven more
  private static final int COMPUTE_PROFILE_BYTES = 36;
  // nvmlComputeInstanceInfo_t: device, gpuInstance, id, profileId, placement
  private static final int COMPUTE_INSTANCE_BYTES = 32;
  private static final int SHARED_ENGINES = 0; // NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED

  private final NvmlCalls nvml;
  private final Pointer device;

  NvmlMig(NvmlCalls nvml, Pointer device) {
    this.nvml = nvml;
    this.device = device;
  }

  /** A profile with the driver's number for it. */
  private record Numbered(int id, MigProfile profile) {}

  /**
   * What the card can be cut into, whether MIG is on or not; none where it cannot, or the driver does not tell as long
   * as it is off.
   */
  List<MigProfile> profiles() {
    return numbered().stream().map(Numbered::profile).toList();
  }

  private List<Numbered> numbered() {
    List<Numbered> profiles = new ArrayList<>();
    for (int kind = 0; kind < KINDS; kind++) {
      Memory info = NvmlCalls.zeros(PROFILE_BYTES);
      info.setInt(0, PROFILE_BYTES | 2 << 24); // nvmlGpuInstanceProfileInfo_v2, the structure's version
      if (!nvml.answers(new String[]{"nvmlDeviceGetGpuInstanceProfileInfoV"}, device, kind, info)) {
        continue;
      }
      int id = info.getInt(PROFILE_ID);
      String name = info.getString(PROFILE_NAME, "US-ASCII");
      List<MigProfile.Placement> placements = placements(id);
      if (!placements.isEmpty() && !name.isBlank()) {
        profiles.add(
            new Numbered(
                id,
                new MigProfile(
                    name.startsWith("MIG ") ? name.substring(4) : name,
                    info.getLong(PROFILE_MEMORY) << 20,
                    info.getInt(PROFILE_MULTIPROCESSORS),
                    info.getInt(PROFILE_SLICES),
                    info.getInt(PROFILE_COUNT),
                    placements)));
      }
    }
    return profiles;
  }

  private List<MigProfile.Placement> placements(int profile) {
    String[] function = {"nvmlDeviceGetGpuInstancePossiblePlacements_v2", "nvmlDeviceGetGpuInstancePossiblePlacements"};
    Memory list = NvmlCalls.zeros((long) MAX_INSTANCES * PLACEMENT_BYTES);
    IntByReference count = new IntByReference(MAX_INSTANCES);
    List<MigProfile.Placement> placements = new ArrayList<>();
    if (nvml.answers(function, device, profile, list, count)) {
      for (int i = 0; i < Math.min(count.getValue(), MAX_INSTANCES); i++) {
        long at = (long) i * PLACEMENT_BYTES;
        placements.add(new MigProfile.Placement(list.getInt(at), list.getInt(at + 4)));
      }
    }
    return placements;
  }

  MigState state() throws NvmlException {
    if (!isOn()) {
      return new MigState(false, List.of());
    }
    Map<Long, String> uuids = uuids();
    List<GpuInstance> instances = new ArrayList<>();
    for (Numbered profile : numbered()) {
      for (Pointer handle : list("nvmlDeviceGetGpuInstances", device, profile.id())) {
        Memory info = NvmlCalls.zeros(GPU_INSTANCE_BYTES);
        nvml.require(new String[]{"nvmlGpuInstanceGetInfo"}, handle, info);
        int id = info.getInt(8);
        List<ComputeInstance> parts = new ArrayList<>();
        for (Pointer part : computeInstances(handle)) {
          Memory partInfo = computeInfo(part);
          int partId = partInfo.getInt(16);
          boolean whole = partInfo.getInt(28) == profile.profile().slices();
          parts.add(new ComputeInstance(partId, whole, uuids.getOrDefault(key(id, partId), "")));
        }
        instances.add(new GpuInstance(id, profile.profile().name(), info.getInt(16), info.getInt(20), parts));
      }
    }
    return new MigState(true, instances);
  }

  /** Whether MIG is on; not where the card cannot, or the driver does not tell. */
  boolean isOnIfKnown() {
    IntByReference current = new IntByReference();
    return nvml.answers(new String[]{"nvmlDeviceGetMigMode"}, device, current, new IntByReference())
        && current.getValue() == 1;
  }

  /** The instances that there are; none on a card without MIG mode, and empty if the driver does not tell them. */
  Optional<List<GpuInstance>> instancesIfKnown() {
    if (!isOnIfKnown()) {
      return Optional.of(List.of());
    }
    try {
      return Optional.of(state().instances());
    } catch (NvmlException e) {
      LOG.debug("NVML does not tell the MIG instances of a card: {}", e.getMessage());
      return Optional.empty();
    }
  }

  private boolean isOn() throws NvmlException {
    IntByReference current = new IntByReference();
    nvml.require(new String[]{"nvmlDeviceGetMigMode"}, device, current, new IntByReference());
    return current.getValue() == 1;
  }

  void switchTo(boolean on) throws NvmlException {
    if (isOn() == on) {
      return;
    }
    IntByReference activation = new IntByReference();
    nvml.require(new String[]{"nvmlDeviceSetMigMode"}, device, on ? 1 : 0, activation);
    if (activation.getValue() == 0 && isOn() == on) {
      return;
    }
    // or it would come with the next reset
    nvml.answers(new String[]{"nvmlDeviceSetMigMode"}, device, on ? 0 : 1, new IntByReference());
    int code = activation.getValue() == 0 ? IN_USE : activation.getValue();
    throw new NvmlException("nvmlDeviceSetMigMode", code, "MIG mode does not change at once: " + nvml.describe(code));
  }

  void make(String profileName, int start) throws NvmlException {
    Numbered profile =
        numbered().stream()
            .filter(p -> p.profile().name().equals(profileName))
            .findFirst()
            .orElseThrow(() -> new NvmlException("making a MIG instance", NvmlException.NOT_FOUND,
                "the card has no profile " + profileName));
    int size =
        profile.profile().placements().stream()
            .filter(p -> p.start() == start)
            .findFirst()
            .orElseThrow(() -> new NvmlException("making a MIG instance", NvmlException.NOT_FOUND,
                profileName + " cannot begin at memory slice " + start))
            .size();
    Memory placement = NvmlCalls.zeros(PLACEMENT_BYTES);
    placement.setInt(0, start);
    placement.setInt(4, size);
    PointerByReference made = new PointerByReference();
    nvml.require(new String[]{"nvmlDeviceCreateGpuInstanceWithPlacement"}, device, profile.id(), placement, made);
    Pointer instance = made.getValue();
    Optional<Integer> all = wholeProfile(instance, profile.profile().slices());
    if (all.isEmpty()) {
      throw new NvmlException("making a MIG instance", NvmlException.NOT_FOUND,
          profileName + " has no compute instance of all its slices");
    }
    nvml.require(new String[]{"nvmlGpuInstanceCreateComputeInstance"}, instance, all.get(), new PointerByReference());
  }

  void end(int gpuInstance) throws NvmlException {
    PointerByReference found = new PointerByReference();
    int code = nvml.code("nvmlDeviceGetGpuInstanceById", device, gpuInstance, found);
    if (code == NvmlException.NOT_FOUND) {
      return;
    }
    if (code != 0) {
      throw new NvmlException("nvmlDeviceGetGpuInstanceById", code, nvml.describe(code));
    }
    for (Pointer part : computeInstances(found.getValue())) {
      nvml.require(new String[]{"nvmlComputeInstanceDestroy"}, part);
    }
    nvml.require(new String[]{"nvmlGpuInstanceDestroy"}, found.getValue());
  }

  private Optional<Integer> wholeProfile(Pointer instance, int slices) {
    for (int kind = 0; kind < KINDS; kind++) {
      Memory info = NvmlCalls.zeros(COMPUTE_PROFILE_BYTES);
      if (nvml.answers(new String[]{"nvmlGpuInstanceGetComputeInstanceProfileInfo"}, instance, kind, SHARED_ENGINES,
          info)
          && info.getInt(4) == slices) {
        return Optional.of(info.getInt(0));
      }
    }
    return Optional.empty();
  }

  private List<Pointer> computeInstances(Pointer instance) throws NvmlException {
    Map<Integer, Pointer> byId = new HashMap<>();
    for (int kind = 0; kind < KINDS; kind++) {
      Memory info = NvmlCalls.zeros(COMPUTE_PROFILE_BYTES);
      if (nvml.answers(new String[]{"nvmlGpuInstanceGetComputeInstanceProfileInfo"}, instance, kind, SHARED_ENGINES,
          info)) {
        for (Pointer part : list("nvmlGpuInstanceGetComputeInstances", instance, info.getInt(0))) {
          byId.put(computeInfo(part).getInt(16), part); // two kinds may have one number
        }
      }
    }
    return List.copyOf(byId.values());
  }

  private Memory computeInfo(Pointer part) throws NvmlException {
    Memory info = NvmlCalls.zeros(COMPUTE_INSTANCE_BYTES);
    nvml.require(new String[]{"nvmlComputeInstanceGetInfo_v2", "nvmlComputeInstanceGetInfo"}, part, info);
    return info;
  }

  private List<Pointer> list(String function, Pointer of, int profile) throws NvmlException {
    Memory handles = NvmlCalls.zeros((long) MAX_INSTANCES * Long.BYTES);
    IntByReference count = new IntByReference(MAX_INSTANCES);
    nvml.require(new String[]{function}, of, profile, handles, count);
    List<Pointer> pointers = new ArrayList<>();
    for (int i = 0; i < Math.min(count.getValue(), MAX_INSTANCES); i++) {
      pointers.add(handles.getPointer((long) i * Long.BYTES));
    }
    return pointers;
  }

  /** UUIDs of the MIG devices, by the numbers of both instances. */
  private Map<Long, String> uuids() {
    Map<Long, String> uuids = new HashMap<>();
    IntByReference most = new IntByReference();
    if (!nvml.answers(new String[]{"nvmlDeviceGetMaxMigDeviceCount"}, device, most)) {
      return uuids;
    }
    for (int i = 0; i < most.getValue(); i++) {
      PointerByReference handle = new PointerByReference();
      IntByReference gpu = new IntByReference();
      IntByReference compute = new IntByReference();
      Memory text = NvmlCalls.zeros(96); // NVML_DEVICE_UUID_V2_BUFFER_SIZE
      if (nvml.answers(new String[]{"nvmlDeviceGetMigDeviceHandleByIndex"}, device, i, handle)
          && nvml.answers(new String[]{"nvmlDeviceGetGpuInstanceId"}, handle.getValue(), gpu)
          && nvml.answers(new String[]{"nvmlDeviceGetComputeInstanceId"}, handle.getValue(), compute)
          && nvml.answers(new String[]{"nvmlDeviceGetUUID"}, handle.getValue(), text, 96)) {
        uuids.put(key(gpu.getValue(), compute.getValue()), text.getString(0, "US-ASCII"));
      }
    }
    return uuids;
  }

  private static long key(int gpuInstance, int computeInstance) {
    return (long) gpuInstance << 32 | computeInstance;
  }
}
