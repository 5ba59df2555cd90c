package dev.partita.controller.watch;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Lets threads wait for changes of objects. A change wakes those who wait for its object, and few others. For any
 * thread.
 */
final class Changes {
  private final Object[] monitors = Stream.generate(Object::new).limit(64).toArray();

  /** The object has changed. */
  void tell(ObjectKey object) {
    Object monitor = monitor(object);
    synchronized (monitor) {
      monitor.notifyAll();
    }
  }

  /**
   * Waits until something holds.
   *
   * @param shown asked at once, and again after every change of the object
   * @return false if it does not hold within that time
   */
  boolean await(ObjectKey object, BooleanSupplier shown, Duration most) throws InterruptedException {
    long end = System.nanoTime() + most.toNanos();
    Object monitor = monitor(object);
    synchronized (monitor) {
      while (!shown.getAsBoolean()) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(monitor, left);
      }
      return true;
    }
  }

  private Object monitor(ObjectKey object) {
    return monitors[Math.floorMod(object.hashCode(), monitors.length)];
  }
}
