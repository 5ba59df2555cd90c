package dev.partita.plugin.loop;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task again and again on a thread of its own. Nothing that the task throws ends the loop, not even an Error: it
 * is logged, and the next turn comes after the pause. Only a turn that returns counts as a heartbeat. So a loop whose
 * turns all fail, or whose turn does not end, is seen to stand still ({@link Loops#standstill}). A task therefore
 * catches what is no reason to restart the plugin, such as an API server that cannot be reached.
 */
public final class PeriodicLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeriodicLoop.class);

  /** After a turn that failed. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final String name;
  private final Turn turn;
  private final LongSupplier nanos;
  private final Thread thread;
  private final Object signal = new Object();
  private boolean wanted;
  private volatile boolean started; // written under the signal
  private volatile boolean stopping;
  private volatile long due; // when the next good turn may begin

  /** What is done again and again. */
  public interface Turn {
    /**
     * Does it once.
     *
     * @return how long to pause before the next turn
     */
    Duration run() throws Exception;
  }

  PeriodicLoop(String name, Turn turn, LongSupplier nanos) {
    this.name = name;
    this.turn = turn;
    this.nanos = nanos;
    this.due = nanos.getAsLong();
    this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::turnOnAndOn);
  }

  /** Takes the first turn now; a loop that was started already takes its next one, as by {@link #soon}. */
  public PeriodicLoop start() {
    synchronized (signal) {
      if (started) {
        soon();
      } else {
        due = nanos.getAsLong(); // before it counts as started: until then that time has no meaning
        thread.start();
        started = true;
      }
    }
    return this;
  }

  /** Has the next turn begin now, or right after the one that is under way. */
  public void soon() {
    synchronized (signal) {
      wanted = true;
      due = Math.min(due, nanos.getAsLong());
      signal.notifyAll();
    }
  }

  /** Takes no further turn, and interrupts the one that is under way. */
  void stop() {
    stopping = true;
    thread.interrupt();
  }

  /** Stops, and waits up to 5 s for the turn that is under way; {@link #hasEnded} says whether it ended. */
  @Override
  public void close() {
    stop();
    if (!awaitEnd(PATIENCE)) {
      LOG.warn("loop {}: its work takes too long", name);
    }
  }

  /** Whether nothing runs any more, or never did. */
  public boolean hasEnded() {
    return !thread.isAlive();
  }

  boolean awaitEnd(Duration atMost) {
    synchronized (signal) {
      if (!started) {
        return true;
      }
    }
    try {
      return thread.join(atMost);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return hasEnded();
    }
  }

  String name() {
    return name;
  }

  /** Whether it ought to take turns. */
  boolean isStarted() {
    return started && !stopping;
  }

  /** Since when the next good turn has been due, by the loop's clock; in the future while the loop pauses. */
  long due() {
    return due;
  }

  private void beat(Duration pause) {
    synchronized (signal) {
      due = nanos.getAsLong() + (wanted ? 0 : pause.toNanos());
    }
  }

  private void turnOnAndOn() {
    boolean failed = false;
    while (!stopping) {
      Duration pause = PAUSE;
      try {
        pause = turn.run();
        beat(pause);
        if (failed) {
          LOG.info("loop {}: works again", name);
        }
        failed = false;
      } catch (Throwable failure) { // whatever it is: the loop must neither end nor be silent
        if (!stopping) {
          tell(failure, failed);
        }
        failed = true;
      }
      pauseUnlessWanted(pause);
    }
  }

  private void tell(Throwable failure, boolean again) {
    try {
      if (again) {
        LOG.debug("the loop {} has failed again: {}", name, failure.toString());
      } else {
        LOG.error("loop {}: failed and goes on", name, failure);
      }
    } catch (RuntimeException | Error e) {
      // the words, too, may lack what the failure was about: memory, stack, a class
      System.err.println(
          "partita-kubelet-plugin: the loop " + name + " has failed and goes on: " + failure.getClass().getName());
    }
  }

  private void pauseUnlessWanted(Duration pause) {
    long end = nanos.getAsLong() + pause.toNanos();
    synchronized (signal) {
      try {
        for (long left = pause.toNanos(); !wanted && !stopping && left > 0; left = end - nanos.getAsLong()) {
          TimeUnit.NANOSECONDS.timedWait(signal, left);
        }
      } catch (InterruptedException e) {
        // an interrupt means stop(), which has set stopping; a stray one ends this pause alone
        LOG.trace("interrupted", e);
      }
      wanted = false;
    }
  }
}
