package dev.partita.plugin.dra;

import dev.partita.plugin.claim.ClaimRef;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Answers kubelet with a service that is still being made: the sockets are opened before anything else, so that kubelet knows the plugin
 * at once, and a call that comes earlier than the service waits for it.
 */
public final class ClaimServiceOnceStarted implements ClaimService {
  private static final Duration PATIENCE = Duration.ofSeconds(20); // kubelet gives a call 45 s
  private static final String STARTING = "the plugin is still starting; kubelet tries again";

  private final CompletableFuture<ClaimService> service = new CompletableFuture<>();

  /** From now on calls are answered. */
  public void started(ClaimService claims) {
    service.complete(claims);
  }

  @Override
  public Outcome prepare(ClaimRef claim) {
    return with(claims -> claims.prepare(claim)).orElseGet(() -> new Failed(STARTING));
  }

  @Override
  public Optional<String> unprepare(ClaimRef claim) {
    return with(claims -> claims.unprepare(claim)).orElseGet(() -> Optional.of(STARTING));
  }

  private <T> Optional<T> with(Function<ClaimService, T> call) {
    try {
      return Optional.of(call.apply(service.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)));
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // it is never completed so
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
