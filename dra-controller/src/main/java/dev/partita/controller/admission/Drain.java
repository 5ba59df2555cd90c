package dev.partita.controller.admission;

import java.time.Duration;

/**
 * Says for how long a controller that stops goes on answering API servers. They learn that it goes by way of
 * EndpointSlices, and on a busy control plane that takes long: as long as one of them still asks, not all know.
 *
 * @param quiet it ends when nobody has asked for that long
 * @param most it ends then in any case
 */
public record Drain(Duration quiet, Duration most) {
  public Drain {
    if (quiet.isNegative() || quiet.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "the webhook's drain must be from 0 to " + most.toSeconds() + " s: " + quiet.toSeconds());
    }
  }

  /**
   * What is left; not positive when it may end.
   *
   * @param going since it was told to stop
   * @param unasked since the last question, or longer than {@code going} if there was none in that time
   */
  Duration left(Duration going, Duration unasked) {
    Duration silent = unasked.compareTo(going) < 0 ? unasked : going;
    Duration untilQuiet = quiet.minus(silent);
    Duration untilMost = most.minus(going);
    return untilQuiet.compareTo(untilMost) < 0 ? untilQuiet : untilMost;
  }
}
