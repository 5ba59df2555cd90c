package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import dev.partita.plugin.nvml.MemoryLimitControl;
import dev.partita.plugin.nvml.NvmlException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.OptionalLong;

/** Memory limits of cgroups on one card; nvml.h of CUDA 13.4 has the structures. */
record NvmlMemoryLimits(NvmlCalls nvml, Pointer device) {
  private static final int SET_BYTES = 24; // nvmlSetMemoryLimits_v1_t: nameSpace, softLimit, hardLimit
  private static final int GET_BYTES = 32; // nvmlGetMemoryLimits_v1_t: the same, currentUsed
  private static final int HARD_LIMIT = 16;
  private static final String GET = "nvmlDeviceGetMemoryLimits_v1";

  /** Whether the driver knows limits of the cgroup, be there one or not. */
  boolean areKnownOf(Path cgroup) throws NvmlException {
    if (!nvml.has(GET)) {
      return false;
    }
    int code = nvml.code(GET, device, new Limits(GET_BYTES, cgroup));
    return code == 0 || code == NvmlException.NOT_FOUND;
  }

  OptionalLong hardLimit(Path cgroup) throws NvmlException {
    Limits limits = new Limits(GET_BYTES, cgroup);
    int code = nvml.code(GET, device, limits);
    if (code == NvmlException.NOT_FOUND) {
      return OptionalLong.empty();
    }
    if (code != 0) {
      throw new NvmlException(GET, code, nvml.describe(code));
    }
    long hard = limits.getLong(HARD_LIMIT);
    return hard == MemoryLimitControl.NO_LIMIT ? OptionalLong.empty() : OptionalLong.of(hard);
  }

  /** Without a soft limit: one would have to be taken back before the cgroup goes (NVIDIA's MPS guide). */
  void set(Path cgroup, long bytes) throws NvmlException {
    Limits limits = new Limits(SET_BYTES, cgroup);
    limits.setLong(HARD_LIMIT, bytes);
    nvml.require(new String[]{"nvmlDeviceSetMemoryLimits_v1"}, device, limits);
  }

  /** A structure, with the text that it points to. */
  private static final class Limits extends Memory {
    private final Memory path;

    Limits(int bytes, Path cgroup) {
      super(bytes);
      byte[] text = cgroup.toString().getBytes(StandardCharsets.UTF_8);
      path = NvmlCalls.zeros(text.length + 1L);
      path.write(0, text, 0, text.length);
      clear();
      setPointer(0, path);
    }
  }
}
