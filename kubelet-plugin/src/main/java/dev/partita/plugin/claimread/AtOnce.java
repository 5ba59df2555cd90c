package dev.partita.plugin.claimread;

import io.grpc.Context;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * Does the same to several things at once, each on a thread of its own, since most of the time is spent on waiting.
 */
public final class AtOnce {
  /** Each thread may hold a large claim. More than these wait until others are through. */
  private static final int MOST = 32;

  private AtOnce() {}

  /**
   * Applies a function to each; returns when all are through. Throws what it threw for the first of them for which it
   * did.
   *
   * @param function runs in the caller's gRPC context
   */
  public static <K, V> Map<K, V> each(Collection<K> keys, Function<K, V> function) {
    Map<K, V> all = new LinkedHashMap<>();
    if (keys.size() == 1) {
      keys.forEach(key -> all.put(key, function.apply(key)));
      return all;
    }
    Context context = Context.current();
    Map<K, Future<V>> running = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(MOST, Thread.ofVirtual().factory())) {
      keys.forEach(key -> running.put(key, threads.submit(context.wrap(() -> function.apply(key)))));
    }
    // an executor that is closed has run all that it was given
    running.forEach((key, future) -> all.put(key, result(future)));
    return all;
  }

  private static <V> V result(Future<V> future) {
    if (future.state() == Future.State.FAILED && future.exceptionNow() instanceof RuntimeException failure) {
      throw failure;
    }
    return future.resultNow();
  }
}
