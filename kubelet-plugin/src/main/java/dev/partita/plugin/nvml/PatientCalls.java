package dev.partita.plugin.nvml;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Calls the driver, one call after the other, and does not wait for it without end: a driver in trouble may never come
 * back from a call. While one is under way, all others fail at once.
 */
public final class PatientCalls implements AutoCloseable {
  private final Duration patience;
  private final ExecutorService caller;
  private @Nullable Future<?> underWay;

  /** Asks for something. */
  public interface Call<T> {
    T run() throws NvmlException;
  }

  /** Changes something. */
  public interface Change {
    void make() throws NvmlException;
  }

  /**
   * @param thread name of the thread that calls
   * @param patience how long a call is waited for
   */
  public PatientCalls(String thread, Duration patience) {
    this.patience = patience;
    this.caller = Executors.newSingleThreadExecutor(Thread.ofPlatform().name(thread).daemon().factory());
  }

  /**
   * Makes a change; what a late one has changed is seen at the next look.
   *
   * @param what it is, for the error
   */
  public void change(String what, Change change) throws NvmlException {
    within(
        what,
        () -> {
          change.make();
          return true;
        });
  }

  /**
   * Asks.
   *
   * @param what it is, for the error
   * @throws NvmlException as the call does, or {@link NvmlException#TIMEOUT}
   */
  public synchronized <T> T within(String what, Call<T> call) throws NvmlException {
    Future<?> earlier = underWay;
    if (earlier != null && !earlier.isDone()) {
      throw new NvmlException(what, NvmlException.TIMEOUT,
          "NVML has not come back from an earlier call; see dmesg and nvidia-smi on the node");
    }
    Future<T> future = caller.submit(call::run);
    underWay = future;
    try {
      return future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new NvmlException(
          what, NvmlException.TIMEOUT,
          "NVML has not come back from it for " + patience.toSeconds() + " s; see dmesg and nvidia-smi on the node");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NvmlException refused) {
        throw refused;
      }
      throw new IllegalStateException(what + ": " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NvmlException(what, NvmlException.TIMEOUT, "the plugin is stopping");
    }
  }

  /** Whatever is under way goes on: a thread within the driver cannot be ended. */
  @Override
  public void close() {
    caller.shutdown();
  }
}
