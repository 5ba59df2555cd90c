package dev.partita.controller.history;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** The samples of the last day that this instance knows: its own, and those that are stored. For any thread. */
public final class History {
  /** A sample a minute. */
  public static final int MOST = 24 * 60;

  private static final long DAY = Duration.ofDays(1).toSeconds();

  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private List<Sample> samples = List.of();

  /**
   * Adds one of this instance's own. Those that are not older go: the clock was set back since. Listeners are called
   * before it returns.
   */
  public void add(Sample sample) {
    synchronized (this) {
      samples = lastDay(Stream.concat(samples.stream().filter(known -> known.at() < sample.at()), Stream.of(sample)));
    }
    listeners.forEach(Runnable::run);
  }

  /**
   * Takes over what is stored. It stands for the time from its first sample to its last, so that all instances show the
   * same; of the time before and after that, the samples that this instance knows stay.
   *
   * @param stored the oldest first
   */
  public synchronized void merge(List<Sample> stored) {
    if (!stored.isEmpty()) {
      long from = stored.getFirst().at();
      long to = stored.getLast().at();
      samples = lastDay(Stream.of(samples.stream().filter(known -> known.at() < from), stored.stream(),
          samples.stream().filter(known -> known.at() > to)).flatMap(part -> part));
    }
  }

  /** The oldest first, no two of one time, {@link #MOST} at most, none a day older than the last. */
  public synchronized List<Sample> samples() {
    return samples;
  }

  /** Calls it after each sample that is added, on the thread that adds. */
  public void listen(Runnable listener) {
    listeners.add(listener);
  }

  /** Makes up for {@link #listen}. */
  public void unlisten(Runnable listener) {
    listeners.remove(listener);
  }

  private static List<Sample> lastDay(Stream<Sample> ascending) {
    List<Sample> all = ascending.toList();
    long begin = all.getLast().at() - DAY;
    return all.stream().skip(Math.max(0, all.size() - MOST)).filter(sample -> sample.at() > begin).toList();
  }
}
