package dev.partita.plugin.loop;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes and ends the plugin's loops, and tells the liveness probe which one stands still.
 *
 * <p>A loop that asks the driver is excused while the driver does not come back from a call: a new process would hang
 * in the same place, and meanwhile kubelet could not even have claims released.
 */
public final class Loops implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Loops.class);

  /** All loops together have as long to end. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final LongSupplier nanos;
  private final Excuse driver;
  private final List<Watched> watched = new CopyOnWriteArrayList<>();

  /** Whether what a loop needs keeps it waiting. */
  public interface Excuse {
    /** No excuse. */
    Excuse NONE = atMost -> false;

    /** Whether a wait is under way, or one that was long ended less than so long ago. */
    boolean holds(Duration atMost);
  }

  private record Watched(PeriodicLoop loop, Duration allowed, Excuse excuse) {}

  /** Loops of which nobody asks whether they stand still. */
  public Loops() {
    this(System::nanoTime, Excuse.NONE);
  }

  /**
   * @param nanos a clock that cannot be set
   * @param driver whether the GPU driver keeps its callers waiting
   */
  public Loops(LongSupplier nanos, Excuse driver) {
    this.nanos = nanos;
    this.driver = driver;
  }

  /**
   * A loop that is not started yet.
   *
   * @param allowed how long it may take from when a turn is due to the end of a good one
   */
  public PeriodicLoop make(String name, Duration allowed, PeriodicLoop.Turn turn) {
    return make(name, allowed, Excuse.NONE, turn);
  }

  /** The same for a loop that asks the GPU driver. */
  public PeriodicLoop makeAskingDriver(String name, Duration allowed, PeriodicLoop.Turn turn) {
    return make(name, allowed, driver, turn);
  }

  private PeriodicLoop make(String name, Duration allowed, Excuse excuse, PeriodicLoop.Turn turn) {
    PeriodicLoop loop = new PeriodicLoop(name, turn, nanos);
    watched.add(new Watched(loop, allowed, excuse));
    return loop;
  }

  /** The first loop that stands still, in words; empty if all take their turns. */
  public Optional<String> standstill() {
    long now = nanos.getAsLong();
    for (Watched one : watched) {
      if (!one.loop.isStarted()) { // asked first: only of a started loop it is known since when a turn is due
        continue;
      }
      Duration since = Duration.ofNanos(now - one.loop.due());
      if (since.compareTo(one.allowed) > 0 && !one.excuse.holds(one.allowed)) {
        return Optional.of("the loop " + one.loop.name() + " has done nothing for " + since.toSeconds() + " s");
      }
    }
    return Optional.empty();
  }

  /** Ends all loops; those that do not end within 5 s are left behind. */
  @Override
  public void close() {
    watched.forEach(one -> one.loop.stop());
    long end = System.nanoTime() + PATIENCE.toNanos();
    for (Watched one : watched) {
      if (!one.loop.awaitEnd(Duration.ofNanos(Math.max(0, end - System.nanoTime())))) {
        LOG.warn("loop {}: its work takes too long", one.loop.name());
      }
    }
  }
}
