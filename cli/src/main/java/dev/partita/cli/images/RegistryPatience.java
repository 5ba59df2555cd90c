package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.LogEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Ends a request to a registry that has failed for some seconds. Jib would try it ten times more, for a minute or,
 * where nothing answers at all, for several, and has no setting for that. It tells of each time by what it logs.
 */
final class RegistryPatience implements Consumer<LogEvent> {
  private static final String AGAIN = " failed and will be retried";

  private final long nanos;
  private final Map<String, Long> firstFailures = new ConcurrentHashMap<>();

  /** @param patience from the first failure of a request to the last time that it is tried */
  RegistryPatience(Duration patience) {
    this.nanos = patience.toNanos();
  }

  /** Hears of a request in the thread that makes it. */
  @Override
  public void accept(LogEvent event) {
    if (event.getMessage().endsWith(AGAIN)) {
      long now = System.nanoTime();
      if (now - firstFailures.computeIfAbsent(event.getMessage(), _ -> now) >= nanos) {
        Thread.currentThread().interrupt(); // what waits before the next time ends, and the request with its last failure
      }
    }
  }
}
