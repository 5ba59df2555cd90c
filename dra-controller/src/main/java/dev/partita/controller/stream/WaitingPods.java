package dev.partita.controller.stream;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the pods that have no place, those that ask for the same together: where one of them finds no place, none of
 * the others does.
 *
 * @param <S> what a pod asks for
 */
final class WaitingPods<S> {
  private final Map<S, Deque<Integer>> byShape = new LinkedHashMap<>();
  private int size;

  /** How many there are. */
  int size() {
    return size;
  }

  /** Whether a pod that asks for the same waits. */
  boolean has(S shape) {
    return byShape.containsKey(shape);
  }

  /** The pod waits from now on, behind all others. */
  void add(S shape, int pod) {
    byShape.computeIfAbsent(shape, _ -> new ArrayDeque<>()).add(pod);
    size++;
  }

  /** Something has become free: has pods tried in the order of their arrival, each shape until one of it fails. */
  void retry(IntPredicate starts) {
    PriorityQueue<Map.Entry<S, Deque<Integer>>> turns =
        new PriorityQueue<>(Comparator.comparing(entry -> entry.getValue().getFirst()));
    turns.addAll(byShape.entrySet());
    for (Map.@Nullable Entry<S, Deque<Integer>> next = turns.poll(); next != null; next = turns.poll()) {
      Deque<Integer> pods = next.getValue();
      if (starts.test(pods.getFirst())) {
        pods.removeFirst();
        size--;
        if (pods.isEmpty()) {
          byShape.remove(next.getKey());
        } else {
          turns.add(next);
        }
      }
    }
  }
}
