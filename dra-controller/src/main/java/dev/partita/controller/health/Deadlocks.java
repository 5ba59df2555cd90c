package dev.partita.controller.health;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds threads that wait for each other's locks, and so for ever. It looks every {@link #PAUSE} at most, however often
 * it is asked.
 */
public final class Deadlocks implements Supplier<Optional<String>> {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private Optional<String> last = Optional.empty();
  private long next = System.nanoTime();

  @Override
  public synchronized Optional<String> get() {
    if (System.nanoTime() - next >= 0) {
      last = look();
      next = System.nanoTime() + PAUSE.toNanos();
    }
    return last;
  }

  private Optional<String> look() {
    long @Nullable [] found = threads.findDeadlockedThreads();
    return found == null
        ? Optional.empty()
        : Optional.of(
            Stream.of(threads.getThreadInfo(found))
                .filter(Objects::nonNull)
                .map(ThreadInfo::getThreadName)
                .sorted()
                .collect(Collectors.joining(", ", "threads wait for each other: ", "")));
  }
}
