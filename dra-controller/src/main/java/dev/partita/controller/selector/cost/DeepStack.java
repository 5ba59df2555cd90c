package dev.partita.controller.selector.cost;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Runs work that calls itself once for every level of an expression, on a thread with a stack that is large enough for
 * the deepest expression that CEL allows.
 *
 * <p>CEL allows 250 levels, and so do API servers. Compiling them takes up to 0.7 MiB of stack and evaluating them as
 * much, but the controller's threads have 0.5 MiB. Half-way through, a stack that overflows can leave a class of the
 * library unusable for the rest of the process, so it must not happen at all: it is not enough to catch the error.
 */
public final class DeepStack {
  /**
   * Twenty times what was measured. Only what is used of it takes memory, and it is given back when the work is done.
   */
  private static final long BYTES = 16L << 20;

  private DeepStack() {}

  /**
   * What the work gives. An interrupt of the caller waits until the work is done, which is bounded.
   *
   * @throws RuntimeException what the work threw
   * @throws Error what the work threw
   */
  public static <T> T call(Supplier<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread = Thread.ofPlatform().name(Thread.currentThread().getName() + "-cel").daemon().stackSize(BYTES)
        .start(() -> complete(result, work));
    Uninterruptibles.joinUninterruptibly(thread);
    try {
      return result.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case Error error -> throw error;
        case RuntimeException problem -> throw problem;
        case null, default -> throw e;
      }
    }
  }

  private static <T> void complete(CompletableFuture<T> result, Supplier<T> work) {
    try {
      result.complete(work.get());
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }
}
