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
   * @param holds whether its status is True
   * @param reason CamelCase
   * @param message for people
   */
  public record Note(String type, boolean holds, String reason, String message) {
    public String status() {
      return holds ? "True" : "False";
    }
  }

  public DeviceNotes {
    data = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(data));
    conditions = List.copyOf(conditions);
  }
}
