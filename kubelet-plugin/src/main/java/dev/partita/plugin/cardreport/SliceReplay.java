package dev.partita.plugin.cardreport;

import dev.partita.plugin.usage.region.LaunchTimes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Replays a card's time slices. Where a card gives processes with launches pending slices of 2 ms, one after the other,
 * launches wait for their process' slice, and have the card alone until it is over or they are done. So what begins is
 * in a slice just then, and the others had the card before and have it after.
 *
 * <p>For example, of three shares two always have launches pending, and one launches 1.9 ms and waits. In these 1.9 ms
 * it has the card, and not a third of it.
 *
 * <p>When launches begin is a container's word. So nobody has a slice out of turn who had more of late than if it had
 * always had launches pending.
 */
final class SliceReplay {
  /** As NVIDIA's cards have it by default; seen on an H100. */
  private static final double SLICE = 2_000_000;

  /** From one process to the next; seen there, too. */
  private static final double CHANGE = 150_000;

  /** A share can have had less than its part by so much, in ns; what is more is forgotten. */
  private static final double MOST_CREDIT = 8_000_000;

  /** With this part of the time free on the card, changes count as nobody's time. */
  private static final double FREE_PART = 0.04;

  /** Each look counts less with the next one: a second or two are remembered. */
  private static final double MEMORY = 15.0 / 16;

  /** Launches that wait this often show that the card has slices. */
  private static final double WAITED_PART = 1.0 / 8;

  /** With this part of a stretch launches were pending all the time: what is missing lies between two windows. */
  private static final double FULL = 15.0 / 16 * LaunchTimes.STRETCH_NANOS;

  /** Nobody begins more often between two looks. */
  private static final long MOST_BEGINS = 1_000_000;

  /**
   * A share of the card, and when in the present stretch it had launches pending, in ns from the stretch's beginning.
   */
  static final class Share {
    private double weight;
    private double from;
    private double to;
    private double density; // of from..to, launches were pending for this part
    private boolean begins;
    private double had;
    private double credit;

    /**
     * Looks at a stretch.
     *
     * @param processes that have launches pending at once
     */
    void look(LaunchTimes times, long stretch, double processes) {
      int told = times.usedIn(stretch);
      double used = told >= FULL ? LaunchTimes.STRETCH_NANOS : told;
      density = told >= FULL ? (double) told / LaunchTimes.STRETCH_NANOS : 1;
      weight = processes;
      begins = used > 0 && times.usedIn(stretch - 1) == 0;
      from = begins ? LaunchTimes.STRETCH_NANOS - used : 0;
      to = begins ? LaunchTimes.STRETCH_NANOS : used;
      had = 0;
    }

    /** What it had of the stretch when that was followed. */
    double had() {
      return had;
    }

    private boolean isPending(double at) {
      return at >= from && at < to;
    }

    private double wanted() {
      return weight * (to - from) / LaunchTimes.STRETCH_NANOS;
    }

    private void settle(double wantedByAll) {
      double others = wantedByAll - wanted();
      credit = Math.min(MOST_CREDIT, credit + weight / (weight + others) * LaunchTimes.STRETCH_NANOS - had);
    }
  }

  private @Nullable Share holder;
  private @Nullable Share last; // had the card just before
  private double left; // of the present slice
  private double worth = 1; // what part of it counts
  private double free; // time of late in which nobody had launches pending
  private double all;
  private double begun;
  private double waited;

  /** Forgets a little of what was seen; before what is seen in the next look. */
  void look() {
    free *= MEMORY;
    all *= MEMORY;
    begun *= MEMORY;
    waited *= MEMORY;
  }

  /** Takes in how often a share's launches have begun and waited since it was read before. */
  void see(LaunchTimes.Begins before, LaunchTimes.Begins now) {
    long more = now.times() - before.times();
    long late = now.waited() - before.waited();
    if (late >= 0 && late <= more && more < MOST_BEGINS) {
      begun += more;
      waited += late;
    }
  }

  /** Whether the card has time slices, as far as launches show it. */
  boolean isSliced() {
    return waited > 0 && waited >= WAITED_PART * begun;
  }

  /** Follows a stretch, which these shares have looked at. */
  void follow(List<Share> shares) {
    double wanted = shares.stream().mapToDouble(Share::wanted).sum();
    for (double at = 0; at < LaunchTimes.STRETCH_NANOS;) {
      Share has = holder(shares, at);
      double until = until(shares, has, at);
      last = has;
      if (has == null) {
        free += until - at;
      } else {
        has.had += (until - at) * has.density * worth;
        left -= until - at;
      }
      at = until;
    }
    all += LaunchTimes.STRETCH_NANOS;
    shares.forEach(share -> share.settle(wanted));
  }

  private double until(List<Share> shares, @Nullable Share has, double at) {
    double until = LaunchTimes.STRETCH_NANOS;
    if (has != null) {
      until = Math.min(until, Math.min(has.to, at + left));
    }
    for (Share share : shares) {
      if (share.from > at) {
        until = Math.min(until, share.from);
      }
    }
    return until;
  }

  /** Whose slice it is, a new one if need be; null where nobody has launches pending. */
  private @Nullable Share holder(List<Share> shares, double at) {
    for (Share share : shares) {
      if (share.begins && at == share.from && share.isPending(at) && share.credit > 0) {
        if (last != null && last != share) { // the change to this one was taken for that one's time
          last.had -= CHANGE * worth;
          share.had += CHANGE * changesCount();
        }
        begin(share, SLICE * share.weight, 1);
        return share;
      }
    }
    Share present = holder;
    if (present != null && shares.contains(present) && present.isPending(at) && left >= 1) {
      return present;
    }
    int index = present == null ? -1 : shares.indexOf(present);
    for (int i = 1; i <= shares.size(); i++) {
      Share next = shares.get((index + i) % shares.size());
      if (next.isPending(at)) {
        double change = next == present ? 0 : CHANGE;
        begin(next, (SLICE + change) * next.weight, (SLICE + change * changesCount()) / (SLICE + change));
        return next;
      }
    }
    return null;
  }

  private void begin(Share share, double length, double part) {
    holder = share;
    left = length;
    worth = part;
  }

  /**
   * What part of the changes counts as the time of whoever comes: all where the card has no time left, so that limits
   * of all of the card are missed alike.
   */
  private double changesCount() {
    return all == 0 ? 1 : Math.max(0, 1 - free / all / FREE_PART);
  }
}
