package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Asks NVML for fields of a card (NVML_FI_…) that are whole numbers, by one call for all of them. */
final class NvmlFields {
  private static final int BYTES = 40; // nvmlFieldValue_t: fieldId, scopeId, timestamp, latencyUsec, …
  private static final int TYPE = 24;
  private static final int RETURN = 28;
  private static final int VALUE = 32;
  private static final int UNSIGNED_INT = 1; // NVML_VALUE_TYPE_UNSIGNED_INT
  private static final int UNANSWERED = 999; // NVML_ERROR_UNKNOWN

  private NvmlFields() {}

  /** The values by field; those that the card or the driver does not tell, or does not know, are left out. */
  static Map<Integer, Long> read(NvmlCalls nvml, Pointer device, List<Integer> fields) {
    Memory memory = NvmlCalls.zeros((long) BYTES * fields.size());
    for (int i = 0; i < fields.size(); i++) {
      memory.setInt((long) BYTES * i, fields.get(i));
      memory.setInt((long) BYTES * i + RETURN, UNANSWERED);
    }
    Map<Integer, Long> told = new HashMap<>();
    if (nvml.answers(new String[]{"nvmlDeviceGetFieldValues"}, device, fields.size(), memory)) {
      for (int i = 0; i < fields.size(); i++) {
        long at = (long) BYTES * i;
        if (memory.getInt(at + RETURN) == 0) {
          boolean isInt = memory.getInt(at + TYPE) == UNSIGNED_INT;
          told.put(
              fields.get(i), isInt ? Integer.toUnsignedLong(memory.getInt(at + VALUE)) : memory.getLong(at + VALUE));
        }
      }
    }
    return told;
  }
}
