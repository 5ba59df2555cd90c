package dev.partita.plugin.dra;

import dev.partita.plugin.grant.ClaimRef;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Answers kubelet while the service behind it is still being made. The sockets are opened first, so that kubelet knows
 * the plugin at once; a call that comes before the service is ready waits for it.
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
  public Map<ClaimRef, Outcome> prepare(Collection<ClaimRef> claims) {
    return with(there -> there.prepare(claims)).orElseGet(() -> ofEach(claims, new Failed(STARTING)));
  }

  @Override
  public Map<ClaimRef, Optional<String>> unprepare(Collection<ClaimRef> claims) {
    return with(there -> there.unprepare(claims)).orElseGet(() -> ofEach(claims, Optional.of(STARTING)));
  }

  private static <T> Map<ClaimRef, T> ofEach(Collection<ClaimRef> claims, T answer) {
    return claims.stream().distinct().collect(Collectors.toMap(claim -> claim, claim -> answer));
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
