package dev.partita.plugin.claimstatus;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is to be said of a device beside that it is ready.
 *
 * @param data scalars, as text
 * @param conditions one a type
 */
public record DeviceNotes(Map<String, String> data, List<Note> conditions) {
  /**
   * A condition.
   *
   * @param type CamelCase
   * @param status as the API has it
   * @param reason CamelCase
   * @param message for people
   */
  public record Note(String type, String status, String reason, String message) {
    /** What is so. */
    public static Note holds(String type, String reason, String message) {
      return new Note(type, "True", reason, message);
    }

    /** What is not so. */
    public static Note fails(String type, String reason, String message) {
      return new Note(type, "False", reason, message);
    }

    /** What nobody can tell. */
    public static Note unknown(String type, String reason, String message) {
      return new Note(type, "Unknown", reason, message);
    }
  }

  public DeviceNotes {
    data = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(data));
    conditions = List.copyOf(conditions);
  }
}
