package dev.partita.controller.nodestatus;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.VersionInfo;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps which version the API server has, and asks again after {@link #KEPT}: it may have been upgraded. For one
 * thread.
 */
final class CachedServerVersion {
  static final Duration KEPT = Duration.ofMinutes(10);
  private static final Logger LOG = LoggerFactory.getLogger(CachedServerVersion.class);

  private final Supplier<@Nullable VersionInfo> server;
  private final Clock monotonicClock;
  private OptionalInt minor = OptionalInt.empty();
  private Instant next = Instant.MIN;

  /** @param server asks the API server */
  CachedServerVersion(Supplier<@Nullable VersionInfo> server, Clock monotonicClock) {
    this.server = server;
    this.monotonicClock = monotonicClock;
  }

  /** The minor version of 1.minor, as it was last told; empty if it was never. */
  OptionalInt minor() {
    Instant now = monotonicClock.instant();
    if (minor.isEmpty() || !now.isBefore(next)) {
      next = now.plus(KEPT);
      ask();
    }
    return minor;
  }

  private void ask() {
    try {
      @Nullable VersionInfo version = server.get();
      if (version != null && version.getMajor() != null && version.getMinor() != null) {
        minor = SchedulingCost.minor(version.getMajor(), version.getMinor());
      }
    } catch (KubernetesClientException e) {
      LOG.debug("the API server's version is not known: {}", e.getMessage());
    }
  }
}
