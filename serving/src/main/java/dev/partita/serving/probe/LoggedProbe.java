package dev.partita.serving.probe;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers one of kubelet's probes, and logs why it fails:
 * {@code kubelet's liveness probe fails: the loop usage has done
 * nothing for 125 s}. Kubelet's own events have the HTTP status alone, and a program that kubelet ends for it would
 * take the reason along. For any thread.
 */
public final class LoggedProbe implements Supplier<Optional<String>> {
  private static final Logger LOG = LoggerFactory.getLogger(LoggedProbe.class);

  /** A program that starts, or is cut off from the API server for a moment, says nothing. */
  private static final Duration UNREADY_PATIENCE = Duration.ofSeconds(30);

  private final String name;
  private final Duration patience;
  private final Supplier<Optional<String>> problem;
  private final LongSupplier nanos;
  private final Consumer<String> log;
  private boolean fails; // held by this, as what follows
  private long since;
  private boolean told;

  /**
   * @param name of the probe
   * @param patience how long the probe fails before that is told
   * @param problem what is wrong; empty if nothing is
   * @param nanos a clock that cannot be set
   * @param log gets a line when the probe has failed for so long, and one when it succeeds again
   */
  LoggedProbe(
      String name,
      Duration patience,
      Supplier<Optional<String>> problem,
      LongSupplier nanos,
      Consumer<String> log) {
    this.name = name;
    this.patience = patience;
    this.problem = problem;
    this.nanos = nanos;
    this.log = log;
  }

  /** For the liveness probe: told at once, for kubelet may soon end the program. */
  public static LoggedProbe alive(Supplier<Optional<String>> problem) {
    return new LoggedProbe("liveness", Duration.ZERO, problem, System::nanoTime, LOG::warn);
  }

  /** For the readiness probe: told when it has lasted for half a minute. */
  public static LoggedProbe ready(Supplier<Optional<String>> problem) {
    return new LoggedProbe("readiness", UNREADY_PATIENCE, problem, System::nanoTime, LOG::warn);
  }

  /** What is wrong now; empty if nothing is. */
  @Override
  public Optional<String> get() {
    Optional<String> now = problem.get();
    tell(now);
    return now;
  }

  private synchronized void tell(Optional<String> now) {
    if (now.isEmpty()) {
      if (told) {
        log.accept("kubelet's " + name + " probe succeeds again");
      }
      fails = false;
      told = false;
      return;
    }
    if (!fails) {
      fails = true;
      since = nanos.getAsLong();
    }
    if (!told && nanos.getAsLong() - since >= patience.toNanos()) {
      told = true;
      log.accept("kubelet's " + name + " probe fails: " + now.get());
    }
  }
}
