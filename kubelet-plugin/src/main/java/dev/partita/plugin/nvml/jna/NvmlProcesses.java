package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.ProcessSample;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads NVML's lists of the processes that use a card. When the buffer is too small, NVML says how large it must be.
 */
final class NvmlProcesses {
  private static final int INSUFFICIENT_SIZE = 7; // NVML_ERROR_INSUFFICIENT_SIZE
  private static final long NOT_AVAILABLE = -1L; // NVML_VALUE_NOT_AVAILABLE
  private static final int ATTEMPTS = 5; // processes may come between the question for the number and the list
  private static final int SPARE = 8;

  /** Driver 580 wants room for 72 samples, however few processes there are. */
  private static final int SAMPLES = 128;

  /** nvmlProcessInfo_v1_t is pid and memory; the later one has two more numbers. */
  private static final int BYTES_V1 = 16;

  private static final int BYTES = 24;
  private static final int MEMORY_OFFSET = 8;
  private static final int INSTANCE_OFFSET = 16; // gpuInstanceId, 0xffffffff without MIG
  private static final int NO_INSTANCE = -1;
  private static final String COMPUTE = "Compute";
  private static final List<String> KINDS = List.of(COMPUTE, "Graphics", "MPSCompute");

  private NvmlProcesses() {}

  /** A process that is in several lists counts with the largest figure; one without a figure is left out. */
  static List<ProcessMemory> on(NvmlCalls nvml, Pointer device) throws NvmlException {
    Map<Long, ProcessMemory> processes = new TreeMap<>();
    for (Rows rows : lists(nvml, device)) {
      add(rows, processes);
    }
    return List.copyOf(processes.values());
  }

  /**
   * Every process in any of the lists, with a figure or without. In MIG mode the card's own lists have the processes of
   * its instances.
   *
   * @throws NvmlException if one of the lists cannot be read: then nobody knows that there is no process
   */
  static List<CardUser> users(NvmlCalls nvml, Pointer device) throws NvmlException {
    Set<CardUser> users = new LinkedHashSet<>();
    for (Rows rows : lists(nvml, device)) {
      for (int i = 0; i < rows.count(); i++) {
        users.add(new CardUser(rows.pid(i), rows.instance(i)));
      }
    }
    return List.copyOf(users);
  }

  /** nvmlProcessUtilizationSample_t: pid, timeStamp, smUtil, memUtil, encUtil, decUtil. */
  private static final int SAMPLE_BYTES = 32;

  private static final int SAMPLE_TIME = 8;
  private static final int SAMPLE_SM = 16;

  /**
   * The newest sample of each process that was active lately, if it is newer than a time in microseconds. One with an
   * impossible figure is left out: drivers have been seen to give whatever was in memory for processes that had ended
   * (nvtop's issue 110).
   *
   * @throws NvmlException if the card has none: old ones, and those in MIG mode (NVML_ERROR_NOT_SUPPORTED)
   */
  static List<ProcessSample> samples(NvmlCalls nvml, Pointer device, long newerThan) throws NvmlException {
    String function = "nvmlDeviceGetProcessUtilization";
    int room = SAMPLES;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      IntByReference count = new IntByReference(room);
      Memory list = NvmlCalls.zeros((long) room * SAMPLE_BYTES);
      int code = nvml.code(function, device, list, count, newerThan);
      if (code == INSUFFICIENT_SIZE && count.getValue() >= 0) {
        room = count.getValue() + SPARE;
      } else if (code == NvmlException.NOT_FOUND) {
        return List.of(); // nobody was active
      } else if (code != 0) {
        throw new NvmlException(function, code, nvml.describe(code));
      } else {
        List<ProcessSample> samples = new ArrayList<>();
        for (int i = 0; i < Math.min(count.getValue(), room); i++) {
          long at = (long) i * SAMPLE_BYTES;
          int smPercent = list.getInt(at + SAMPLE_SM);
          if (smPercent >= 0 && smPercent <= 100) {
            samples.add(
                new ProcessSample(
                    Integer.toUnsignedLong(list.getInt(at)),
                    list.getLong(at + SAMPLE_TIME),
                    smPercent,
                    list.getInt(at + SAMPLE_SM + Integer.BYTES),
                    list.getInt(at + SAMPLE_SM + 2 * Integer.BYTES),
                    list.getInt(at + SAMPLE_SM + 3 * Integer.BYTES)));
          }
        }
        return samples;
      }
    }
    throw new NvmlException(function, INSUFFICIENT_SIZE, "the number of processes keeps changing");
  }

  private static String newest(NvmlCalls nvml, String function) {
    for (String suffix : List.of("_v3", "_v2")) {
      if (nvml.has(function + suffix)) {
        return function + suffix;
      }
    }
    return function;
  }

  /**
   * The lists that the card has. Cards before Volta have none of clients of MPS (nvml.h): there the server's context is
   * that of its clients.
   *
   * @throws NvmlException if one of them cannot be read, or the card does not even list processes that compute
   */
  private static List<Rows> lists(NvmlCalls nvml, Pointer device) throws NvmlException {
    List<Rows> lists = new ArrayList<>();
    for (String kind : KINDS) {
      String function = "nvmlDeviceGet" + kind + "RunningProcesses";
      String newest = newest(nvml, function);
      if (nvml.has(newest)) {
        try {
          lists.add(rows(nvml, newest, device, newest.equals(function) ? BYTES_V1 : BYTES));
        } catch (NvmlException e) {
          if (kind.equals(COMPUTE) || e.code() != NvmlException.NOT_SUPPORTED) {
            throw e;
          }
        }
      }
    }
    return lists;
  }

  private static void add(Rows rows, Map<Long, ProcessMemory> into) {
    for (int i = 0; i < rows.count(); i++) {
      long held = rows.list().getLong((long) i * rows.stride() + MEMORY_OFFSET);
      if (rows.pid(i) != 0 && held != NOT_AVAILABLE && held >= 0) {
        into.merge(rows.pid(i), new ProcessMemory(rows.pid(i), held, rows.instance(i)),
            (a, b) -> a.bytes() >= b.bytes() ? a : b);
      }
    }
  }

  /** A list as NVML fills it. */
  private record Rows(Memory list, int stride, int count) {
    long pid(int row) {
      return Integer.toUnsignedLong(list.getInt((long) row * stride));
    }

    /** The number of the MIG instance in a row; older rows have none. */
    OptionalInt instance(int row) {
      int instance = stride == BYTES_V1 ? NO_INSTANCE : list.getInt((long) row * stride + INSTANCE_OFFSET);
      return instance == NO_INSTANCE ? OptionalInt.empty() : OptionalInt.of(instance);
    }
  }

  private static Rows rows(NvmlCalls nvml, String function, Pointer device, int stride) throws NvmlException {
    int room = SPARE;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      IntByReference count = new IntByReference(room);
      Memory list = NvmlCalls.zeros((long) room * stride);
      int code = nvml.code(function, device, count, list);
      if (code == INSUFFICIENT_SIZE && count.getValue() >= 0) {
        room = count.getValue() + SPARE;
      } else if (code != 0) {
        throw new NvmlException(function, code, nvml.describe(code));
      } else {
        return new Rows(list, stride, Math.min(count.getValue(), room));
      }
    }
    throw new NvmlException(function, INSUFFICIENT_SIZE, "the number of processes keeps changing");
  }
}
