package dev.partita.plugin.xid;

import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which XID errors get a line in the log: of the same error of the same card one in a minute. A tenant's
 * program that fails again and again brings about hundreds, which would push all else out of the log.
 */
final class XidLines {
  private static final Duration BETWEEN = Duration.ofMinutes(1);

  private final LongSupplier nanos;
  private final Map<XidEvent, Line> last = new HashMap<>();

  /**
   * The last line of an error.
   *
   * @param without how many of the error had none since
   */
  private record Line(long nanos, long without) {}

  /** @param nanos a clock that cannot be set */
  XidLines(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Takes in an error.
   *
   * @return what its line has to say of earlier ones, which may be nothing; empty if it gets no line
   */
  Optional<String> of(XidEvent event) {
    long now = nanos.getAsLong();
    @Nullable Line before = last.get(event);
    if (before != null && now - before.nanos() < BETWEEN.toNanos()) {
      last.put(event, new Line(before.nanos(), before.without() + 1));
      return Optional.empty();
    }
    last.put(event, new Line(now, 0));
    return Optional.of(before == null || before.without() == 0 ? "" : " (and " + before.without() + " before)");
  }
}
