package dev.partita.e2e.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * How what a test changed for others is put back: the last change first, and every step, whatever becomes of the
 * others.
 */
public final class Cleanup implements AutoCloseable {
  private record Step(String what, Runnable undo) {}

  private final Deque<Step> steps = new ArrayDeque<>();

  /**
   * Has it undone in the end. To be called before the change, lest half of a change stays.
   *
   * @param what for the error if that fails
   */
  public void undo(String what, Runnable undo) {
    steps.push(new Step(what, undo));
  }

  @Override
  public void close() {
    List<String> left = new ArrayList<>();
    List<RuntimeException> failures = new ArrayList<>();
    while (!steps.isEmpty()) {
      Step step = steps.pop();
      try {
        step.undo().run();
      } catch (RuntimeException failure) {
        left.add(step.what());
        failures.add(failure);
      }
    }
    if (!failures.isEmpty()) {
      IllegalStateException failure =
          new IllegalStateException("not put back: " + String.join(", ", left), failures.getFirst());
      failures.stream().skip(1).forEach(failure::addSuppressed);
      throw failure;
    }
  }
}
