package dev.partita.controller.watch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that handles events in batches: what arrives within a moment of the first is handled with it, and equal events
 * once. A handler that throws loses its batch, is logged, and the loop goes on.
 */
public final class EventLoop<E> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);

  /** What comes after an empty one is not handled. */
  private final LinkedBlockingQueue<Optional<E>> queue = new LinkedBlockingQueue<>();

  private final Duration gather;
  private final Consumer<Set<E>> handler;
  private final Thread thread;
  private final ScheduledExecutorService timer;
  private volatile boolean closed;

  /**
   * @param gather how long to wait for more after the first event
   */
  public EventLoop(String name, Duration gather, Consumer<Set<E>> handler) {
    this.gather = gather;
    this.handler = handler;
    this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    this.timer = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name(name + "-timer").daemon().factory());
  }

  public void start() {
    thread.start();
  }

  public void post(E event) {
    queue.add(Optional.of(event));
  }

  /** Posts the event when the pause is over, unless the loop is closed by then. */
  public void postAfter(Duration pause, E event) {
    if (!timer.isShutdown()) {
      var _ = timer.schedule(() -> post(event), pause.toMillis(), TimeUnit.MILLISECONDS);
    }
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
    queue.add(Optional.empty());
    try {
      if (!thread.join(most)) {
        LOG.warn("{}: more waited than could be handled in {} ms", thread.getName(), most.toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    close();
  }

  private void run() {
    while (!closed) {
      try {
        Set<E> batch = batch();
        if (!batch.isEmpty()) {
          handler.accept(batch);
        }
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        if (!closed) {
          LOG.error("{}: a batch of events was not handled", thread.getName(), e);
        }
      }
    }
  }

  private Set<E> batch() throws InterruptedException {
    List<Optional<E>> taken = new ArrayList<>();
    taken.add(queue.take());
    long end = System.nanoTime() + gather.toNanos();
    for (long left = gather.toNanos(); left > 0 && taken.getLast().isPresent(); left = end - System.nanoTime()) {
      Optional<E> next = queue.poll(left, TimeUnit.NANOSECONDS);
      if (next == null) {
        break;
      }
      taken.add(next);
      queue.drainTo(taken);
    }
    if (taken.contains(Optional.empty())) {
      closed = true;
    }
    return taken.stream().takeWhile(Optional::isPresent).map(Optional::get).collect(Collectors.toCollection(LinkedHashSet::new));
  }
}
