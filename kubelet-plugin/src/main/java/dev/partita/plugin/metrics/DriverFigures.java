package dev.partita.plugin.metrics;

import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.Samples;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the driver measures, read when somebody scrapes. A driver in trouble may not come back from a call: then the
 * last reading stands, with its age, and no second call is begun. For one thread at a time.
 */
final class DriverFigures {
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** NVML's sample periods are up to a second long; what is older says nothing of now. */
  private static final Duration RECENT = Duration.ofSeconds(2);

  private final Supplier<Map<String, Map<CardFigure, Double>>> figures;
  private final Samples samples;
  private final InstantSource clock;
  private Reading last = Reading.NONE;
  private @Nullable FutureTask<Reading> underWay;

  /**
   * One reading.
   *
   * @param figures by the card's UUID
   * @param samples what processes used of cards with shares, by the card's UUID
   * @param at when it was asked for
   */
  record Reading(Map<String, Map<CardFigure, Double>> figures, Map<String, List<ProcessSample>> samples, Instant at) {
    static final Reading NONE = new Reading(Map.of(), Map.of(), Instant.EPOCH);
  }

  DriverFigures(
      Supplier<Map<String, Map<CardFigure, Double>>> figures,
      Samples samples,
      InstantSource clock) {
    this.figures = figures;
    this.samples = samples;
    this.clock = clock;
  }

  /**
   * Reads now, or takes the reading before.
   *
   * @param shared UUIDs of the cards whose processes matter
   */
  Reading read(Collection<String> shared) {
    FutureTask<Reading> task = underWay;
    if (task == null) {
      task = new FutureTask<>(() -> readNow(List.copyOf(shared)));
      underWay = task;
      Thread.ofPlatform().name("metrics-driver").daemon().start(task);
    }
    try {
      last = task.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      underWay = null;
    } catch (TimeoutException _) { // the last one stands
    } catch (ExecutionException e) {
      underWay = null;
      throw new IllegalStateException("NVML", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return last;
  }

  private Reading readNow(List<String> shared) {
    Instant now = clock.instant();
    long newerThan = ChronoUnit.MICROS.between(Instant.EPOCH, now.minus(RECENT));
    Map<String, List<ProcessSample>> ofCards = new TreeMap<>();
    for (String card : shared) {
      ofCards.put(card, samples.of(card, newerThan).known());
    }
    return new Reading(figures.get(), ofCards, now);
  }
}
