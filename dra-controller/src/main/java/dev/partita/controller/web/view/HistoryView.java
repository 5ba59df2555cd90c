package dev.partita.controller.web.view;

import dev.partita.controller.history.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The fleet's figures of the last day.
 *
 * @param samples evenly spread over those that there are, the oldest first, the last one always among them
 * @param gaps the times of those of them before which nothing is known for a while
 */
public record HistoryView(List<Sample> samples, List<Long> gaps) {
  /** As many points as a curve can show. */
  private static final int POINTS = 288;

  /** Samples come every minute, in the largest clusters somewhat less often. */
  private static final long GAP = Duration.ofMinutes(10).toSeconds();

  public HistoryView {
    samples = List.copyOf(samples);
    gaps = List.copyOf(gaps);
  }

  /** @param all the oldest first */
  public static HistoryView of(List<Sample> all) {
    int step = Math.max(1, (all.size() + POINTS - 1) / POINTS);
    List<Sample> shown = new ArrayList<>();
    List<Long> gaps = new ArrayList<>();
    boolean isGap = false;
    for (int i = 0; i < all.size(); i++) {
      long at = all.get(i).at();
      isGap |= i > 0 && at - all.get(i - 1).at() > GAP;
      if ((all.size() - 1 - i) % step == 0) {
        if (isGap && !shown.isEmpty()) {
          gaps.add(at);
        }
        isGap = false;
        shown.add(all.get(i));
      }
    }
    return new HistoryView(shown, gaps);
  }
}
