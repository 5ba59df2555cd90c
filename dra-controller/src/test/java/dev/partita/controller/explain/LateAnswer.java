package dev.partita.controller.explain;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An answer that does not come in time, whatever the time is. */
public final class LateAnswer extends CompletableFuture<Answer> {
  @Override
  public Answer get(long time, TimeUnit unit) throws TimeoutException {
    throw new TimeoutException(); // as the real one after that time, without a message
  }
}
