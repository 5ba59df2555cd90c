package dev.partita.plugin.inventory;

import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The node's inventory, read again and again; whoever listens hears of every reading. */
public final class NodeInventory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeInventory.class);

  /** A reading of many cards that sleep takes some seconds. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final InventoryReader reader;
  private final Consumer<Inventory> listener;
  private final Duration patience;
  private final ScheduledExecutorService timer;
  private final ScheduledExecutorService watch;
  private final AtomicReference<@Nullable Reading> underWay = new AtomicReference<>();
  private @Nullable Reading stuck;
  private volatile Inventory current;

  /** A reading that has begun. */
  private record Reading(long beginNanos) {}

  /** Reads once; {@link #start} goes on reading. */
  public NodeInventory(InventoryReader reader, Consumer<Inventory> listener) {
    this(reader, listener, PATIENCE);
  }

  NodeInventory(InventoryReader reader, Consumer<Inventory> listener, Duration patience) {
    this.reader = reader;
    this.listener = listener;
    this.patience = patience;
    this.watch = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("inventory-watch").daemon().factory());
    this.timer = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("inventory").daemon().factory());
    this.current = reader.read();
    log(current);
  }

  /** Tells the listener of the present state, and of every reading from now on. */
  public void start(Duration period) {
    var _ = timer.scheduleWithFixedDelay(this::tick, 0, period.toMillis(), TimeUnit.MILLISECONDS);
    var _ = watch.scheduleWithFixedDelay(this::tellIfStuck, period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Has the cards read, and the listener told, out of turn. */
  public void readSoon() {
    try {
      timer.execute(this::tick);
    } catch (RejectedExecutionException e) {
      LOG.debug("no reading, the plugin is stopping", e);
    }
  }

  /** The last reading. */
  public Inventory current() {
    return current;
  }

  /** Reads now. */
  public synchronized Inventory refresh() {
    underWay.set(new Reading(System.nanoTime()));
    Inventory now;
    try {
      now = reader.read();
    } finally {
      underWay.set(null);
    }
    if (!now.equals(current)) {
      log(now);
    }
    current = now;
    return now;
  }

  @Override
  public void close() {
    watch.shutdownNow();
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(5, TimeUnit.SECONDS)) {
        LOG.warn("a reading of the cards does not end");
        return; // closing the library under it would crash the process
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    reader.close();
  }

  private void tick() {
    tell(this::refresh);
  }

  /** A driver in trouble may not come back from a call at all; then nobody else would say so. The next reading takes it back. */
  private void tellIfStuck() {
    Reading reading = underWay.get();
    if (reading != null && System.nanoTime() - reading.beginNanos() >= patience.toNanos() && current instanceof Inventory.Cards cards) {
      if (!reading.equals(stuck)) {
        LOG.warn("a reading of the cards does not end: NVML does not answer");
      }
      stuck = reading;
      tell(() -> cards.silent());
    }
  }

  private void tell(Supplier<Inventory> state) {
    try {
      listener.accept(state.get());
    } catch (KubernetesClientException e) {
      LOG.warn("the node's state cannot be reported, next try with the next reading: {}", ApiCalls.explain(e));
    } catch (RuntimeException e) {
      LOG.warn("the node's state cannot be reported, next try with the next reading: {}", e.getMessage());
      LOG.debug("why", e);
    }
  }

  private static void log(Inventory inventory) {
    switch (inventory) {
      case Inventory.NoCards none -> LOG.warn("no cards: {}: {}", none.reason(), none.message());
      case Inventory.Cards cards -> {
        LOG.info("cards: {}; driver {}", GpuNodeStatuses.models(cards.gpus()), cards.driverVersion());
        cards.gpus().stream()
            .filter(gpu -> gpu.health().reason() != null)
            .forEach(gpu -> LOG.warn("card {} (gpu-{}) is unhealthy: {}: {}", gpu.uuid(), gpu.index(), gpu.health().reason(), gpu.health().message()));
      }
    }
  }
}
