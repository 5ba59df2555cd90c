package dev.partita.e2e.cluster;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** The same work many times at once. */
public final class Parallel {
  private Parallel() {}

  /** Does the work for 0 to count - 1 and waits for all of it; what goes wrong is thrown. */
  public static void run(ExecutorService threads, int count, IntConsumer work) throws Exception {
    List<Future<?>> running =
        IntStream.range(0, count).<Future<?>>mapToObj(i -> threads.submit(() -> work.accept(i))).toList();
    for (Future<?> one : running) {
      one.get();
    }
  }
}
