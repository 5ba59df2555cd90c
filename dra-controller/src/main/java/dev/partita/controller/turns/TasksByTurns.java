package dev.partita.controller.turns;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Does the tasks of namespaces by turns: one of each namespace, and of each the oldest. So a namespace with a thousand
 * tasks delays another namespace's only one by no more than one task. Safe for threads.
 */
public final class TasksByTurns {
  private final Map<String, Deque<Runnable>> byNamespace = new LinkedHashMap<>(); // the first one is next

  /** Queues the task for one of the following calls of {@link #runNext}, of which there must be one for each task. */
  public synchronized void add(String namespace, Runnable task) {
    byNamespace.computeIfAbsent(namespace, _ -> new ArrayDeque<>()).add(task);
  }

  /** Does the task whose turn it is; nothing, if there is none. */
  public void runNext() {
    @Nullable Runnable next = next();
    if (next != null) {
      next.run();
    }
  }

  private synchronized @Nullable Runnable next() {
    Iterator<Map.Entry<String, Deque<Runnable>>> namespaces = byNamespace.entrySet().iterator();
    if (!namespaces.hasNext()) {
      return null;
    }
    Map.Entry<String, Deque<Runnable>> first = namespaces.next();
    String namespace = first.getKey();
    Deque<Runnable> tasks = first.getValue();
    Runnable next = tasks.removeFirst();
    namespaces.remove();
    if (!tasks.isEmpty()) {
      byNamespace.put(namespace, tasks); // behind all others
    }
    return next;
  }
}
