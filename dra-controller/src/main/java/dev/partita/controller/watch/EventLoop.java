package dev.partita.controller.watch;

import dev.partita.api.Excerpt;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles events in batches, on one thread. What arrives within a moment of the first event is handled with it, and
 * equal events once.
 *
 * <p>An event that equals one that waits is dropped, so no more events wait than there are different ones: events that
 * name an object are bounded by the number of objects, however often these change and however long a handler takes.
 *
 * <p>Each event stands for itself. When a handler fails with a batch, its events are handled once more one by one, and
 * only one that fails again is lost, and logged. So a handler may be told of something twice. What is no failure of an
 * event ends the process ({@link Faults}).
 */
public final class EventLoop<E> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);

  /** Characters of an event in a log line. */
  private static final int MOST_SHOWN = 200;

  private final Duration gather;
  private final Consumer<Set<E>> handler;
  private final Thread thread;
  private final ScheduledExecutorService timer;
  private final Object lock = new Object();
  private volatile boolean closed;

  // Both held by the lock.
  private Set<E> waiting = new LinkedHashSet<>();
  private boolean finishing;

  /**
   * @param gather how long to wait for more after the first event
   */
  public EventLoop(String name, Duration gather, Consumer<Set<E>> handler) {
    this.gather = gather;
    this.handler = handler;
    this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    this.timer = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name(name + "-timer").daemon().factory(),
        new ThreadPoolExecutor.DiscardPolicy());
  }

  public void start() {
    thread.start();
  }

  /** Queues the event; nothing, if an equal event waits, or the loop is finishing. */
  public void post(E event) {
    synchronized (lock) {
      if (!finishing && waiting.add(event)) {
        lock.notifyAll();
      }
    }
  }

  /** How many events wait. For any thread. */
  public int waiting() {
    synchronized (lock) {
      return waiting.size();
    }
  }

  /** Posts the event when the pause is over, and no sooner, unless the loop is closed by then. */
  public void postAfter(Duration pause, E event) {
    var _ = timer.schedule(() -> post(event), pause.plusNanos(999_999).toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Stops after the batch in hand, and waits for it, but not for ever. */
  @Override
  public void close() {
    closed = true;
    timer.shutdownNow();
    thread.interrupt();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops after everything that was posted before, or when that time is over. */
  public void finish(Duration most) {
    timer.shutdownNow();
    synchronized (lock) {
      finishing = true;
      lock.notifyAll();
    }
    try {
      if (!thread.join(most)) {
        LOG.warn("{}: more events were waiting than it could handle in {} ms", thread.getName(), most.toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    close();
  }

  private void run() {
    try {
      for (Set<E> batch = batch(); !batch.isEmpty(); batch = batch()) {
        handle(batch);
      }
    } catch (InterruptedException e) {
      // closed
    }
  }

  private void handle(Set<E> batch) {
    if (closed || tryToHandle(batch) || closed || batch.size() == 1) {
      return;
    }
    for (E event : batch) {
      if (closed) {
        return;
      }
      boolean _ = tryToHandle(Set.of(event));
    }
  }

  /** Whether the handler did not fail; if it did, it is logged. */
  private boolean tryToHandle(Set<E> batch) {
    try {
      handler.accept(batch);
      return true;
    } catch (RuntimeException | StackOverflowError | AssertionError e) {
      if (!closed) {
        LOG.error("{}: handling {} failed", thread.getName(),
            batch.size() == 1 ? shown(batch.iterator().next()) : batch.size() + " events together", e);
      }
      return false;
    }
  }

  private static String shown(Object event) {
    return Excerpt.of(event.toString(), MOST_SHOWN);
  }

  /** Empty when everything is handled and nothing more comes. */
  private Set<E> batch() throws InterruptedException {
    synchronized (lock) {
      while (waiting.isEmpty() && !finishing) {
        lock.wait();
      }
      long end = System.nanoTime() + gather.toNanos();
      for (long left = gather.toNanos(); left > 0 && !finishing; left = end - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(lock, left);
      }
      Set<E> batch = waiting;
      waiting = new LinkedHashSet<>();
      return batch;
    }
  }
}
