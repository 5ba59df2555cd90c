package dev.partita.controller.web.view;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The fleet's figures of the last day, as this instance saw them. For any thread. */
public final class History {
  /** A sample a minute. */
  public static final int MOST = 24 * 60;

  /** As many points as a curve can show. */
  private static final int POINTS = 288;

  private final Deque<Sample> samples = new ArrayDeque<>();

  /**
   * The figures at one time.
   *
   * @param at seconds since the epoch
   * @param waiting pods that wait for cards
   */
  public record Sample(long at, Totals totals, int waiting) {}

  /**
   * What is shown.
   *
   * @param samples evenly spread over the time, the oldest first
   */
  public record View(List<Sample> samples) {
    public View {
      samples = List.copyOf(samples);
    }
  }

  /** Adds one; of more than {@link #MOST} the oldest goes. */
  public synchronized void add(Sample sample) {
    samples.add(sample);
    if (samples.size() > MOST) {
      samples.removeFirst();
    }
  }

  /** What there is, the last sample always among it. */
  public synchronized View view() {
    List<Sample> all = new ArrayList<>(samples);
    int step = (all.size() + POINTS - 1) / POINTS;
    List<Sample> shown = new ArrayList<>();
    for (int i = all.size() - 1; i >= 0; i -= Math.max(1, step)) {
      shown.addFirst(all.get(i));
    }
    return new View(shown);
  }
}
