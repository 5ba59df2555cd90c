package dev.partita.plugin.claimstatus;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a device's status says besides that the device is ready.
 *
 * @param data scalars, as text
 * @param conditions one a type
 */
public record DeviceNotes(Map<String, String> data, List<Note> conditions) {
  /**
   * A condition.
   *
   * @param status as the API has it
   * @param message for people
   */
  public record Note(DeviceCondition type, String status, DeviceCondition.Reason reason, String message) {
    /** What is so. */
    public static Note holds(DeviceCondition type, DeviceCondition.Reason reason, String message) {
      return new Note(type, "True", reason, message);
    }

    /** What is not so. */
    public static Note fails(DeviceCondition type, DeviceCondition.Reason reason, String message) {
      return new Note(type, "False", reason, message);
    }

    /** What nobody can tell. */
    public static Note unknown(DeviceCondition type, DeviceCondition.Reason reason, String message) {
      return new Note(type, "Unknown", reason, message);
    }
  }

  public DeviceNotes {
    data = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(data));
    conditions = List.copyOf(conditions);
  }
}
