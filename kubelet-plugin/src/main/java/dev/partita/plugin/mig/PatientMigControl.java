package dev.partita.plugin.mig;

import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the driver for MIG instances, and does not wait for it without end. A driver in trouble may never come back from
 * a call, and claims that need no instance must be prepared and released all the same. What a late call has changed is
 * seen at the next look at the card.
 */
public final class PatientMigControl implements MigControl, AutoCloseable {
  /** A card takes seconds to change its mode; kubelet gives a call 45 s. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final MigControl driver;
  private final Duration patience;
  private final ExecutorService caller =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("mig").daemon().factory());
  private @Nullable Future<?> underWay;

  public PatientMigControl(MigControl driver) {
    this(driver, PATIENCE);
  }

  PatientMigControl(MigControl driver, Duration patience) {
    this.driver = driver;
    this.patience = patience;
  }

  @Override
  public MigState mig(String card) throws NvmlException {
    return within("reading MIG instances", () -> driver.mig(card));
  }

  @Override
  public List<CardUser> users(String card) throws NvmlException {
    return within("listing a card's processes", () -> driver.users(card));
  }

  @Override
  public void switchMig(String card, boolean on) throws NvmlException {
    change("switching the MIG mode", () -> driver.switchMig(card, on));
  }

  @Override
  public void makeInstance(String card, String profile, int start) throws NvmlException {
    change("making a MIG instance", () -> driver.makeInstance(card, profile, start));
  }

  @Override
  public void endInstance(String card, int gpuInstance) throws NvmlException {
    change("ending a MIG instance", () -> driver.endInstance(card, gpuInstance));
  }

  /** Whatever is under way goes on: a thread within the driver cannot be ended. */
  @Override
  public void close() {
    caller.shutdown();
  }

  private interface Change {
    void make() throws NvmlException;
  }

  private void change(String what, Change change) throws NvmlException {
    within(
        what,
        () -> {
          change.make();
          return true;
        });
  }

  private interface Call<T> {
    T run() throws NvmlException;
  }

  private synchronized <T> T within(String what, Call<T> call) throws NvmlException {
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
}
