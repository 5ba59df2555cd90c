package dev.partita.plugin.devicehealth;

import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports the health of the node's devices whenever it has changed, and every 10 s besides: kubelet takes for unknown
 * what it has not heard of for 30 s. Nothing here waits for the driver or for the API server.
 */
public final class DeviceHealthWatch {
  /** How long after a report kubelet takes the health that it says for unknown. */
  static final Duration VALID = Duration.ofSeconds(30);

  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final Duration ALLOWED = Duration.ofMinutes(2);

  private final String pool;
  private final NodeInventory inventory;
  private final HealthStreams streams;
  private final Clock clock;
  private final KnownDevices known = new KnownDevices();
  private @Nullable HealthReport last;

  /**
   * @param pool the name of the node's pool
   * @param streams gets the reports
   */
  public DeviceHealthWatch(String pool, NodeInventory inventory, HealthStreams streams, Clock clock) {
    this.pool = pool;
    this.inventory = inventory;
    this.streams = streams;
    this.clock = clock;
  }

  /** Reports from now on. */
  public void start(Loops loops) {
    PeriodicLoop loop = loops.make("device-health", ALLOWED, this::reportNow).start();
    inventory.afterReadings(loop::soon);
  }

  private Duration reportNow() {
    inventory.state().map(known::update).ifPresent(this::report);
    return PERIOD;
  }

  private void report(List<DeviceState> devices) {
    Instant now = clock.instant();
    HealthReport before = last;
    // a clock that was set back must not keep reports away
    boolean isFresh = before != null && Duration.between(before.at(), now).abs().compareTo(PERIOD) < 0;
    if (before != null && isFresh && before.devices().equals(devices)) {
      return;
    }
    HealthReport report = new HealthReport(now, pool, devices);
    last = report;
    streams.send(report);
  }
}
