package dev.partita.controller.turns;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does tasks of namespaces on threads of its own, so many at once, and namespaces by turns: one task of each namespace,
 * and of each the oldest. So a namespace with a thousand tasks delays another namespace's only one by no more than one
 * task.
 *
 * <p>A task that takes longer than a while counts no more among those that are done at once, for it may wait for
 * something that its namespace has slowed down, such as a webhook that does not answer for 30 s. Of one namespace there
 * are {@link #MOST_OF_ONE} under way at most, and no more than all others together may have besides what they have.
 * With a while of 1 s such a namespace so takes 16 of the 480 seconds that 16 at once have in 30 s, and of five such
 * namespaces 8 each are under way. For any thread.
 */
public final class TasksByTurns implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TasksByTurns.class);

  /** Of one namespace so many are under way at most. */
  static final int MOST_OF_ONE = 16;

  /** Of all together there are fewer: a connection to the API server takes 100 requests at once. */
  private static final int MOST = 48;

  /** Where the API server answers after longer than that, a webhook of the namespace may be what it waits for. */
  private static final Duration SLOW = Duration.ofSeconds(1);

  private static final Duration ENDING = Duration.ofSeconds(10);

  private final IntSupplier atOnce;
  private final Duration slow;
  private final ExecutorService threads;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<String, Deque<Runnable>> waiting = new LinkedHashMap<>(); // the first one is next
  private final Map<String, Integer> underWay = new HashMap<>();
  private int waitingInAll;
  private int underWayInAll;
  private int quick; // of these
  private boolean closed;

  /**
   * Of tasks that write to the API server.
   *
   * @param name of its threads
   * @param atOnce how many may begin within a second, asked before each; from 1 on
   */
  public TasksByTurns(String name, IntSupplier atOnce) {
    this(name, atOnce, SLOW);
  }

  /**
   * @param name of its threads
   * @param atOnce how many may begin within a while, asked before each; from 1 on
   * @param slow the while
   */
  TasksByTurns(String name, IntSupplier atOnce, Duration slow) {
    this.atOnce = atOnce;
    this.slow = slow;
    this.threads = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name(name + "-", 0).factory());
    this.timer =
        new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name(name + "-timer").daemon().factory(),
            new ThreadPoolExecutor.DiscardPolicy()); // after the end it matters no more what is slow
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Does the task when its turn comes.
   *
   * @throws IllegalStateException once it is being closed
   */
  public synchronized void add(String namespace, Runnable task) {
    if (closed) {
      throw new IllegalStateException("it is being closed");
    }
    waiting.computeIfAbsent(namespace, _ -> new ArrayDeque<>()).add(task);
    waitingInAll++;
    beginNext();
  }

  /** How many have not begun. */
  public synchronized int waiting() {
    return waitingInAll;
  }

  /** Does what is under way or waits, for ten seconds at most; then it is interrupted, or left undone. */
  @Override
  public void close() {
    try {
      awaitEnd();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
    timer.shutdownNow();
  }

  private synchronized void awaitEnd() throws InterruptedException {
    closed = true;
    long until = System.nanoTime() + ENDING.toNanos();
    try {
      for (long left = ENDING.toNanos(); waitingInAll + underWayInAll > 0 && left > 0; left =
          until - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } finally {
      waiting.clear();
      waitingInAll = 0;
    }
  }

  private synchronized void beginNext() {
    while (quick < atOnce.getAsInt()) {
      @Nullable Task next = next();
      if (next == null) {
        return;
      }
      underWay.merge(next.namespace, 1, Integer::sum);
      underWayInAll++;
      quick++;
      waitingInAll--;
      threads.execute(next);
    }
  }

  /** The next one of a namespace that may begin another one. */
  private @Nullable Task next() {
    int most = Math.min(MOST_OF_ONE, MOST - underWayInAll);
    Iterator<Map.Entry<String, Deque<Runnable>>> namespaces = waiting.entrySet().iterator();
    while (namespaces.hasNext()) {
      Map.Entry<String, Deque<Runnable>> one = namespaces.next();
      String namespace = one.getKey();
      Deque<Runnable> tasks = one.getValue();
      if (underWay.getOrDefault(namespace, 0) < most) {
        Task next = new Task(namespace, tasks.removeFirst());
        namespaces.remove();
        if (!tasks.isEmpty()) {
          waiting.put(namespace, tasks); // behind all others
        }
        return next;
      }
    }
    return null;
  }

  /** A task that has begun, of a namespace. */
  private final class Task implements Runnable {
    private final String namespace;
    private final Runnable task;
    private boolean counted = true;

    Task(String namespace, Runnable task) {
      this.namespace = namespace;
      this.task = task;
    }

    @Override
    public void run() {
      ScheduledFuture<?> late = timer.schedule(this::countNoMore, slow.toNanos(), TimeUnit.NANOSECONDS);
      try {
        task.run();
      } catch (RuntimeException e) {
        LOG.error("a task for namespace {} has failed", namespace, e);
      } finally {
        late.cancel(false);
        ended();
      }
    }

    private void countNoMore() {
      synchronized (TasksByTurns.this) {
        if (counted) {
          counted = false;
          quick--;
          beginNext();
        }
      }
    }

    private void ended() {
      synchronized (TasksByTurns.this) {
        countNoMore();
        underWayInAll--;
        underWay.computeIfPresent(namespace, (_, count) -> count == 1 ? null : count - 1);
        beginNext();
        TasksByTurns.this.notifyAll();
      }
    }
  }
}
