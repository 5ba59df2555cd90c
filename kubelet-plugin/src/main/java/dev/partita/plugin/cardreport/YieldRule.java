package dev.partita.plugin.cardreport;

import java.time.Duration;

/**
 * When shares of lower priority pause: as soon as those of higher priority have used so much of the card, together, for
 * so long without a break.
 *
 * @param percent of the card's time, 1 to 100
 * @param holdOff zero: with the first sample that says so
 */
public record YieldRule(int percent, Duration holdOff) {
  /** Less than this is a program that looks whether there is work, not one that works. */
  public static final YieldRule DEFAULT = new YieldRule(5, Duration.ZERO);

  public YieldRule {
    if (percent < 1 || percent > 100) {
      throw new IllegalArgumentException("the priority threshold must be from 1 to 100 percent: " + percent);
    }
  }
}
