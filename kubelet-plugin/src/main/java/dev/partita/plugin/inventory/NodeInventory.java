package dev.partita.plugin.inventory;

import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the node's inventory again and again, and reports it to a listener. One thread reads and another one reports.
 * So it can be reported that the driver does not come back from a call, and claims get fresh cards while the API server
 * answers slowly.
 */
public final class NodeInventory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeInventory.class);
  private static final Duration FIRST_PERIOD = Duration.ofSeconds(10);

  /** Readings and their reports may take so long before the loops are taken to stand still. */
  private static final Duration READING_ALLOWED = Duration.ofMinutes(2);

  // some calls to an API server that answers none of them
  private static final Duration REPORT_ALLOWED = Duration.ofMinutes(10);

  /**
   * How long the driver is waited for.
   *
   * @param toAnswer until a caller of {@link #refresh} is told that NVML does not answer; kubelet gives a call 45 s
   * @param toReport until the listener is told so
   */
  public record Patience(Duration toAnswer, Duration toReport) {
    /** A reading of many cards that sleep takes some seconds. */
    public static final Patience STANDARD = new Patience(Duration.ofSeconds(20), Duration.ofMinutes(1));
  }

  private final InventoryReader reader;
  private final Runnable beforeFirst;
  private final Consumer<Inventory> listener;
  private final Patience patience;
  private final PeriodicLoop reading;
  private final PeriodicLoop telling;
  private final List<Runnable> afterReadings = new CopyOnWriteArrayList<>();
  private volatile Duration period = FIRST_PERIOD;
  private volatile Inventory current = Inventory.NoCards.NOT_READ;

  private final Object turns = new Object();
  private CompletableFuture<Inventory> next = new CompletableFuture<>(); // of the reading that begins next
  private @Nullable Begun underWay;
  private @Nullable Begun stuck;
  private boolean readOnce;
  private boolean isPrepared; // by the thread that reads alone

  /** A reading that has begun. */
  private record Begun(long nanos, CompletableFuture<Inventory> outcome) {}

  /** Reads when it is asked for; {@link #start} has it read again and again. */
  public NodeInventory(InventoryReader reader, Consumer<Inventory> listener) {
    this(reader, () -> {}, listener, Patience.STANDARD, new Loops());
  }

  /**
   * Reads like the one above, after something that is done once.
   *
   * @param beforeFirst is done before the first reading, on the thread that reads
   */
  public NodeInventory(
      InventoryReader reader,
      Runnable beforeFirst,
      Consumer<Inventory> listener,
      Patience patience,
      Loops loops) {
    this.reader = reader;
    this.beforeFirst = beforeFirst;
    this.listener = listener;
    this.patience = patience;
    this.reading = loops.makeAskingDriver("inventory", READING_ALLOWED, this::readNow);
    this.telling = loops.make("gpunode", REPORT_ALLOWED, this::tellNow);
  }

  /** Reads now and every period, and tells the listener of the first reading and of every one after it. */
  public void start(Duration every) {
    period = every;
    reading.start();
    telling.start();
  }

  /** Has the cards read, and the listener told, out of turn. */
  public void readSoon() {
    reading.soon();
  }

  /** Has something done after every reading, on the thread that reads: it must not take long. */
  public void afterReadings(Runnable task) {
    afterReadings.add(task);
  }

  /** The last reading; {@link Inventory.NoCards#NOT_READ} before the first one has ended. */
  public Inventory current() {
    return current;
  }

  /**
   * What is to be said of the node: the last reading, or that NVML does not answer while a reading takes too long.
   * Nobody else would say so, since the driver may not come back from a call at all. The next reading takes it back.
   *
   * @return empty before the first reading has ended
   */
  public Optional<Inventory> state() {
    Inventory known = current;
    synchronized (turns) {
      Begun begun = underWay;
      if (begun == null || System.nanoTime() - begun.nanos() < patience.toReport().toNanos()) {
        return known.equals(Inventory.NoCards.NOT_READ) ? Optional.empty() : Optional.of(known);
      }
      if (!begun.equals(stuck)) {
        LOG.warn("reading the cards takes too long: NVML does not answer");
      }
      stuck = begun;
    }
    return Optional
        .of(known instanceof Inventory.Cards cards ? cards.silent() : Inventory.NoCards.silent(patience.toReport()));
  }

  /**
   * A reading that begins after the call, or the first one of all. This waits for it as long as {@link Patience} says.
   * If it does not come by then, the answer is that there are no cards, since NVML does not answer.
   */
  public Inventory refresh() {
    CompletableFuture<Inventory> wanted;
    synchronized (turns) {
      Begun begun = underWay;
      wanted = begun != null && !readOnce ? begun.outcome() : next;
    }
    reading.start();
    try {
      return wanted.get(patience.toAnswer().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return Inventory.NoCards.silent(patience.toAnswer());
    } catch (ExecutionException | CancellationException e) {
      throw new IllegalStateException("the cards cannot be read: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the plugin is stopping; kubelet tries again", e);
    }
  }

  @Override
  public void close() {
    telling.close();
    reading.close();
    if (reading.hasEnded()) {
      reader.close();
    } else {
      LOG.warn("reading the cards takes too long"); // closing the library under it would crash the process
    }
  }

  private Duration readNow() {
    if (!isPrepared) { // before the reading begins: it is not NVML that is waited for
      isPrepared = true;
      beforeFirst.run();
    }
    Begun begun = begin();
    try {
      Inventory now = reader.read();
      if (!now.equals(current)) {
        log(now);
      }
      current = now;
      end();
      begun.outcome().complete(now);
    } catch (RuntimeException | Error e) {
      end();
      begun.outcome().completeExceptionally(e);
      throw e;
    }
    telling.soon();
    afterReadings.forEach(Runnable::run);
    return period;
  }

  private Begun begin() {
    synchronized (turns) {
      Begun begun = new Begun(System.nanoTime(), next);
      underWay = begun;
      next = new CompletableFuture<>();
      return begun;
    }
  }

  /** Ends the reading before its outcome is given out: who has that one must not get it again. */
  private void end() {
    synchronized (turns) {
      underWay = null;
      readOnce = true;
    }
  }

  private Duration tellNow() {
    state().ifPresent(this::tell);
    return period;
  }

  private void tell(Inventory state) {
    try {
      listener.accept(state);
    } catch (KubernetesClientException e) {
      LOG.warn("cannot report the node's state; trying again soon: {}", ApiCalls.explain(e));
    } catch (RuntimeException e) {
      LOG.warn("cannot report the node's state; trying again soon: {}", e.getMessage());
      LOG.debug("the report of the node's state has failed", e);
    }
  }

  private static void log(Inventory inventory) {
    switch (inventory) {
      case Inventory.NoCards none -> LOG.warn("no cards: {}: {}", none.reason(), none.message());
      case Inventory.Cards cards -> {
        LOG.info("cards: {}; driver {}", GpuNodeStatuses.models(cards.gpus()), cards.driverVersion().orElse("none"));
        cards.opaque().problems().forEach(problem -> LOG.warn("opaque cards: {}", problem));
        cards.gpus().stream()
            .filter(gpu -> gpu.health().reason() != null)
            .forEach(
                gpu -> LOG.warn(
                    "card {} (gpu-{}) is unhealthy: {}: {}", gpu.uuid(), gpu.index(), gpu.health().reason(),
                    gpu.health().message()));
      }
    }
  }
}
