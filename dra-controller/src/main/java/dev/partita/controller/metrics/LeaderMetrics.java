package dev.partita.controller.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.controller.headroom.Headroom;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import dev.partita.serving.metrics.Source;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells Prometheus what only the instance that leads knows: what would fit, and what waits to be done. */
public final class LeaderMetrics implements Source {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderMetrics.class);

  /** The deciding thread answers between slices of its work, of a tenth of a second. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final Family LARGEST_SHARE = gauge("partita_largest_share_bytes",
      "Most memory that one share could get now, without a core limit and whatever quotas say.", "model");
  private static final Family WHOLE_CARDS =
      gauge("partita_whole_cards_free", "Cards that could be taken as a whole now.", "model");
  private static final Family FREE =
      gauge("partita_free_bytes", "Memory that shares could get together now.", "model");
  private static final Family FRAGMENTATION = gauge("partita_fragmentation_ratio",
      "Part of that memory which lies on cards of which something is taken: 1 where no card is untouched.", "model");
  private static final Family QUEUE = gauge("partita_controller_queue_length",
      "What waits to be done: events to be looked at, pods to be decided about, allocations to be written, gates to be"
          + " taken off.",
      "queue");

  /** The instance that leads, as this asks it. */
  public interface Leader {
    /**
     * What would fit now, by model; the answer comes when its deciding thread has time for it, which it takes unless
     * the answer is cancelled.
     */
    CompletionStage<SortedMap<String, Headroom>> headroom();

    /** How much waits, by the name of the queue. */
    Map<String, Integer> queueLengths();
  }

  private final Supplier<Optional<Leader>> leader;

  /** @param leader this instance, as long as it leads */
  public LeaderMetrics(Supplier<Optional<Leader>> leader) {
    this.leader = leader;
  }

  static List<Family> families() {
    return List.of(LARGEST_SHARE, WHOLE_CARDS, FREE, FRAGMENTATION, QUEUE);
  }

  @Override
  public void collect(Samples into) {
    leader.get().ifPresent(leads -> {
      leads.queueLengths().forEach((queue, length) -> into.put(QUEUE, length, queue));
      headroom(leads).forEach((model, headroom) -> {
        into.put(LARGEST_SHARE, headroom.largestShareBytes(), model);
        into.put(WHOLE_CARDS, headroom.wholeCards(), model);
        into.put(FREE, headroom.freeBytes(), model);
        into.put(FRAGMENTATION, headroom.fragmentation(), model);
      });
    });
  }

  /** Nothing where the deciding thread has no time for it, or the term has ended. */
  private static Map<String, Headroom> headroom(Leader leads) {
    CompletableFuture<SortedMap<String, Headroom>> asked = leads.headroom().toCompletableFuture();
    try {
      return asked.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.debug("what would fit is left out", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      asked.cancel(true); // whatever has not been answered by now
    }
    return Map.of();
  }
}
