package dev.partita.controller.history;

import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the samples of the last day during one term of leadership, on a thread of its own: every five minutes, and
 * when the term ends in order. What cannot be written is, with the next sample. An instance that is killed leaves out
 * the last minutes, if no other one has sampled them.
 */
public final class HistoryKeeper implements AutoCloseable {
  static final Duration PERIOD = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(HistoryKeeper.class);
  private static final Duration GATHER = Duration.ofMillis(50);
  private static final Duration FAREWELL = Duration.ofSeconds(2);

  /** Why the thread looks whether something is to be stored. */
  private enum Work {
    /** There is another sample. */
    SAMPLED,
    /** The term ends. */
    LAST
  }

  private final ApiEdge edge;
  private final HistoryStore store;
  private final History history;
  private final EventLoop<Work> loop;
  private final Runnable listener;
  private final ProblemLog problems = new ProblemLog(LOG);
  // only the loop's thread touches it
  private long storedUntil;

  public HistoryKeeper(ApiEdge edge, HistoryStore store) {
    this.edge = edge;
    this.store = store;
    this.history = store.history();
    this.loop = new EventLoop<>("history", GATHER, batch -> keep(batch.contains(Work.LAST) ? Duration.ZERO : PERIOD));
    this.listener = () -> loop.post(Work.SAMPLED);
  }

  /** Begins. */
  public void start() {
    loop.start();
    history.listen(listener);
    loop.post(Work.SAMPLED);
  }

  /** Stores what is not stored yet, as far as that takes no longer than {@link #FAREWELL}. */
  @Override
  public void close() {
    history.unlisten(listener);
    loop.post(Work.LAST);
    loop.finish(FAREWELL);
  }

  private void keep(Duration behind) {
    if (!isBehind(history.samples(), behind)) {
      return;
    }
    try {
      Optional<HistoryStore.Stored> stored = edge.read(store::read);
      if (stored.isPresent()) {
        storedUntil = until(stored.get().samples());
        history.merge(stored.get().samples());
        List<Sample> now = history.samples();
        if (isBehind(now, behind)) {
          store.write(edge, stored.get(), now);
          storedUntil = until(now);
        }
        problems.over();
      }
    } catch (ApiEdge.NotLeadingException e) {
      LOG.debug("{} is left to the next leader", store.name());
    } catch (RuntimeException e) {
      problems.say(store.name() + " cannot be written: " + e.getMessage() + "; trying again with each sample");
    }
  }

  /** What was stored by a clock that was ahead ends later than what is known. */
  private boolean isBehind(List<Sample> known, Duration behind) {
    long seconds = Math.abs(until(known) - storedUntil);
    return seconds > 0 && seconds >= behind.toSeconds();
  }

  private static long until(List<Sample> samples) {
    return samples.isEmpty() ? 0 : samples.getLast().at();
  }
}
