package dev.partita.plugin.cardreport;

import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.region.LaunchTimes;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Divides one card's time among those that had launches pending. NVML cannot tell that: in each period it names one
 * process and gives it all of the card (seen on an H100 with driver 580). But processes with pending launches get the
 * card in turn, and shares' regions say when launches were pending.
 *
 * <p>Of a stretch of wall time, share i has
 *
 * <pre> used_i * w_i / (w_i + sum over all others j of w_j * used_j / length of the stretch) </pre>
 *
 * where used_i is for how long its launches were pending, and w_i how many of its processes had some at once. For
 * example, of a stretch in which both of two shares, with a process each, had launches pending, each has half.
 *
 * <p>That is what it comes to where the card serves all of them at once, or each for long. Where launches show that the
 * card has time slices, and no process has it whose launches nobody times, the slices are replayed
 * ({@link SliceReplay}).
 *
 * <p>Windows of launches are told when they are over, so it divides up to a moment that is past. What is told later
 * than that counts in full, so that nobody has more than its limit: a window that holds one long kernel, for example.
 *
 * <p>Regions are a container's word. None can say more than the time that passed; that it says too little is found by
 * {@link HiddenUse}.
 */
final class DividedTime {
  /** How long windows of launches may take to be over and told, in ns. */
  static final long LAG = 70_000_000;

  /** A share whose region has said nothing new for so long has none pending: later, old stretches look new again. */
  private static final long SILENCE = 1_000_000_000;

  /** No kernel is taken to run for longer, in ns. */
  private static final long MOST_LATE = 60_000_000_000L;

  /** A region's sum may lag behind its stretches by less than this, in ns; one that is further behind was wiped. */
  private static final long UNEVEN = 10_000_000;

  /** Less use than this, in ns, does not show how many processes had some at once. */
  private static final long ENOUGH = 1_000_000;

  /**
   * A share of the card whose launches are timed.
   *
   * @param times as they were read last
   * @param processes that it has on the card, by NVML
   */
  record User(ShareRef ref, LaunchTimes times, int processes) {}

  /**
   * How much is pending of processes whose launches nobody times.
   *
   * @param part of the time
   * @param weight how many processes do at once
   */
  record Untimed(double part, double weight) {
    static final Untimed NONE = new Untimed(0, 1);
  }

  /**
   * What each share had of the card since the last call.
   *
   * @param from where it begins, by CLOCK_MONOTONIC, in ns
   * @param to where it ends: up to there the figures go
   * @param nanos what each share had
   * @param mostNanos what each would have had if a process of it had always had launches pending, and of each other
   *        share one process when the other's region says so
   * @param untimedNanos what processes had whose launches nobody times
   * @param coveredNanos in which any share had launches pending
   */
  record Interval(
      long from,
      long to,
      Map<ShareRef, Long> nanos,
      Map<ShareRef, Long> mostNanos,
      long untimedNanos,
      long coveredNanos) {
    long passed() {
      return to - from;
    }
  }

  private static final class Account {
    final SliceReplay.Share slices = new SliceReplay.Share();
    LaunchTimes times = LaunchTimes.NONE;
    double weight = 1;
    long movedAt;
    boolean begun;
    long settled; // of the region's sum, what was divided, or counted as late
    long room; // time that passed and is not counted as its own
    // in this call
    boolean pending;
    double part;
    double most;
    long divided;
    int used;

    void read(User user, SliceReplay replay, long now) {
      LaunchTimes read = user.times();
      if (begun) {
        replay.see(times.begins(), read.begins());
      }
      if (read.busyNanos() != times.busyNanos() || !begun) {
        movedAt = now;
        weigh(read, user.processes());
      }
      times = read;
      pending = read.busyNanos() > 0 && now - movedAt < SILENCE;
      part = 0;
      most = 0;
      divided = 0;
    }

    private void weigh(LaunchTimes read, int processes) {
      long busy = read.busyNanos() - times.busyNanos();
      if (busy >= ENOUGH && times.processNanos() > 0) {
        weight = (double) (read.processNanos() - times.processNanos()) / busy;
      }
      weight = Math.clamp(weight, 1, Math.max(1, processes));
    }

    /** What came too late to be divided. */
    long late(long ahead, long passed) {
      long told = times.busyNanos() - ahead;
      settled = begun ? settled + divided : told;
      begun = true;
      long late = told - settled;
      if (late > 0 || late < -UNEVEN) {
        settled = told;
      }
      room = Math.min(MOST_LATE, room + passed - Math.round(part));
      late = Math.clamp(late, 0, Math.max(0, room));
      room -= late;
      return late;
    }
  }

  private final Map<ShareRef, Account> accounts = new HashMap<>();
  private final SliceReplay replay = new SliceReplay();
  private boolean begun;
  private long next; // stretch

  /**
   * Divides what passed since the last call.
   *
   * @param users all of the card's
   * @param now by CLOCK_MONOTONIC, in ns
   */
  Interval take(List<User> users, Untimed untimed, long now) {
    long from = advance(now);
    long end = next;
    accounts.keySet().retainAll(users.stream().map(User::ref).collect(Collectors.toSet()));
    users.forEach(user -> accounts.computeIfAbsent(user.ref(), ref -> new Account()).read(user, replay, now));
    List<Account> pending = accounts.values().stream().filter(account -> account.pending).toList();
    long last = now >> LaunchTimes.STRETCH_BITS;
    long first = Math.max(from, last - LaunchTimes.STRETCHES + 1);
    boolean sliced = untimed.part() == 0 && replay.isSliced();
    double covered = 0;
    double rest = 0;
    double ofUntimed = untimed.part() * Math.min(1, untimed.weight());
    if (pending.isEmpty()) { // as it mostly is: to look at stretches is what an idle node would pay most for
      rest = untimed.part() * ((end - first) << LaunchTimes.STRETCH_BITS);
    } else {
      for (long stretch = first; stretch < end; stretch++) {
        if (sliced) {
          follow(stretch, pending);
        } else {
          rest += divide(stretch, pending, untimed);
        }
        covered += covered(pending);
        limit(accounts.values(), pending, ofUntimed);
      }
    }
    long passed = (end - from) << LaunchTimes.STRETCH_BITS;
    double unseen = pending.isEmpty() ? passed / (1 + ofUntimed) : (first - from) << LaunchTimes.STRETCH_BITS;
    Map<ShareRef, Long> most = new HashMap<>();
    accounts.forEach((ref, account) -> most.put(ref, Math.round(account.most + unseen)));
    Map<ShareRef, Long> nanos = new HashMap<>();
    accounts.forEach((ref, account) -> {
      long part = Math.max(0, Math.round(account.part));
      nanos.put(ref, part + account.late(ahead(account, end, last), passed));
    });
    return new Interval(from << LaunchTimes.STRETCH_BITS, end << LaunchTimes.STRETCH_BITS, nanos, most,
        Math.round(rest), Math.round(covered));
  }

  /** The same while nobody uses the card, which is all that an idle node does several times a second. */
  void pass(long now) {
    advance(now);
    accounts.clear();
  }

  /** Goes on to the last stretch of which all is known; the stretch from which it did. */
  private long advance(long now) {
    long end = Math.max(next, (now - LAG) >> LaunchTimes.STRETCH_BITS);
    long from = begun ? next : end;
    begun = true;
    next = end;
    replay.look();
    return from;
  }

  /** How many shares had launches pending lately, when it divided last. */
  long active() {
    return accounts.values().stream().filter(account -> account.pending).count();
  }

  /** Divides a stretch of a card with time slices. */
  private void follow(long stretch, List<Account> pending) {
    for (Account account : pending) {
      account.used = account.times.usedIn(stretch);
      account.slices.look(account.times, stretch, account.weight);
    }
    replay.follow(pending.stream().map(account -> account.slices).toList());
    for (Account account : pending) {
      account.part += account.slices.had();
      account.divided += account.used;
    }
  }

  /** Divides a stretch; gives what processes have of it whose launches nobody times. */
  private static double divide(long stretch, List<Account> pending, Untimed untimed) {
    double wanted = 0;
    for (Account account : pending) {
      account.used = account.times.usedIn(stretch);
      wanted += account.weight * account.used / LaunchTimes.STRETCH_NANOS;
    }
    for (Account account : pending) {
      double turns = account.weight + wanted - account.weight * account.used / LaunchTimes.STRETCH_NANOS;
      double without = account.weight / turns;
      double with = account.weight / (turns + untimed.weight());
      account.part += account.used * ((1 - untimed.part()) * without + untimed.part() * with);
      account.divided += account.used;
    }
    return LaunchTimes.STRETCH_NANOS * untimed.part() * untimed.weight() / (untimed.weight() + wanted);
  }

  /** Adds what each would have had of a stretch if it had always had launches pending. */
  private static void limit(Collection<Account> all, List<Account> pending, double ofUntimed) {
    double used = 0;
    for (Account account : pending) {
      used += (double) account.used / LaunchTimes.STRETCH_NANOS;
    }
    for (Account account : all) {
      double own = account.pending ? (double) account.used / LaunchTimes.STRETCH_NANOS : 0;
      account.most += LaunchTimes.STRETCH_NANOS / (1 + used - own + ofUntimed);
    }
  }

  /** For how long any share had launches pending, as if each had them at any time of the stretch. */
  private static double covered(List<Account> pending) {
    double free = 1;
    for (Account account : pending) {
      free *= 1 - (double) account.used / LaunchTimes.STRETCH_NANOS;
    }
    return (1 - free) * LaunchTimes.STRETCH_NANOS;
  }

  private static long ahead(Account account, long from, long last) {
    long ahead = 0;
    for (long stretch = from; account.pending && stretch <= last; stretch++) {
      ahead += account.times.usedIn(stretch);
    }
    return ahead;
  }
}
