package dev.partita.plugin.devicehealth;

import java.time.Instant;
import java.util.List;

/**
 * The health of every device of the node's pool.
 *
 * @param at when that was so
 */
record HealthReport(Instant at, String pool, List<DeviceState> devices) {
  HealthReport {
    devices = List.copyOf(devices);
  }
}
