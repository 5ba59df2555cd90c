package dev.partita.cli.cluster.provider;

import dev.partita.cli.command.CommandFailure;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Work on several things at the same time. */
public final class Concurrently {
  private Concurrently() {}

  /** Does it for each, and waits until all are done; fails as the first that failed. */
  static <T> void forEach(List<T> things, Consumer<T> work) {
    List<CompletableFuture<Void>> running =
        things.stream().map(
            thing -> CompletableFuture.runAsync(() -> work.accept(thing), thread -> Thread.ofPlatform().start(thread)))
            .toList();
    running.forEach(Concurrently::join);
  }

  /** Begins something. */
  public static CompletableFuture<Void> begin(Runnable work) {
    return CompletableFuture.runAsync(work, thread -> Thread.ofPlatform().daemon().start(thread));
  }

  /** Waits for it; fails as it failed. */
  public static void join(CompletableFuture<Void> work) {
    try {
      work.join();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof CommandFailure known ? known : failure;
    }
  }
}
