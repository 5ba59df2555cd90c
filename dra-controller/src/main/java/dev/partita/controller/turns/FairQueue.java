package dev.partita.controller.turns;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Says what is decided next: the best {@link Rank} of all that wait, as long as no namespace has used much more of the
 * deciding thread's time than another that waits too. A namespace that has used {@link #LEAD} more than the one that
 * has used least is passed over until the others have caught up, so that nobody can keep the thread busy alone. When
 * nothing waits any more, what was used is forgotten. A namespace that comes while others wait counts as if it had used
 * {@link #LEAD} less than the least of them, and no less.
 *
 * <p>Within a namespace the order is by rank, in passes. What was decided already comes once more in the same pass only
 * during the pass' first {@link #STRICT}; after that it waits for the next pass. Otherwise a pod of the first rank that
 * is woken again and again would keep the others waiting for ever.
 *
 * <p>For one thread.
 */
public final class FairQueue<T> {
  /** By how much one namespace's time may be ahead of another's before it has to wait. */
  public static final Duration LEAD = Duration.ofMillis(100);

  /** How long a pass keeps to the order of ranks also for what was decided in it already. */
  static final Duration STRICT = Duration.ofSeconds(1);

  private record Entry<T>(T what, Lane<T> lane, Rank rank, long number) {}

  /** What waits of one namespace. */
  private static final class Lane<T> {
    private static final Comparator<Entry<?>> ORDER =
        Comparator.<Entry<?>, Rank>comparing(Entry::rank).thenComparing(Entry::number);

    long used;
    long passBegan;
    TreeSet<Entry<T>> pass = new TreeSet<>(ORDER);
    TreeSet<Entry<T>> nextPass = new TreeSet<>(ORDER);
    final Set<T> decidedInPass = new HashSet<>();

    boolean isEmpty() {
      return pass.isEmpty() && nextPass.isEmpty();
    }
  }

  private final LongSupplier nanos;
  private final Map<String, Lane<T>> lanes = new HashMap<>();
  private final Map<T, Entry<T>> waiting = new HashMap<>();
  private long added;

  /** @param nanos a clock that nobody sets */
  public FairQueue(LongSupplier nanos) {
    this.nanos = nanos;
  }

  public boolean isEmpty() {
    return waiting.isEmpty();
  }

  public int size() {
    return waiting.size();
  }

  public boolean contains(T what) {
    return waiting.containsKey(what);
  }

  /**
   * Queues it to be decided about at its turn: once, however often it is added, by the best of the ranks that it is
   * added with.
   */
  public void add(T what, String namespace, Rank rank) {
    @Nullable Entry<T> before = waiting.get(what);
    if (before != null && before.rank().compareTo(rank) <= 0) {
      return;
    }
    if (before != null) {
      remove(what);
    }
    Lane<T> lane = lanes.computeIfAbsent(namespace, _ -> new Lane<>());
    long now = nanos.getAsLong();
    if (lane.isEmpty()) {
      if (!waiting.isEmpty()) {
        lane.used = Math.max(lane.used, least() - LEAD.toNanos());
      }
      lane.passBegan = now;
      lane.decidedInPass.clear();
    }
    Entry<T> entry = new Entry<>(what, lane, rank, added++);
    boolean later =
        !lane.pass.isEmpty() && lane.decidedInPass.contains(what) && now - lane.passBegan > STRICT.toNanos();
    (later ? lane.nextPass : lane.pass).add(entry);
    waiting.put(what, entry);
  }

  /** Takes it out: nothing is to be decided about it any more. */
  public void remove(T what) {
    @Nullable Entry<T> entry = waiting.remove(what);
    if (entry != null) {
      entry.lane().pass.remove(entry);
      entry.lane().nextPass.remove(entry);
      turnPage(entry.lane());
    }
  }

  /** Takes what is to be decided now; empty if nothing waits. */
  public Optional<T> next() {
    if (waiting.isEmpty()) {
      lanes.clear();
      return Optional.empty();
    }
    long end = least() + LEAD.toNanos();
    @Nullable Entry<T> best = null;
    for (Lane<T> lane : lanes.values()) {
      if (!lane.isEmpty() && lane.used < end && (best == null || lane.pass.first().rank().compareTo(best.rank()) < 0)) {
        best = lane.pass.first();
      }
    }
    Entry<T> chosen = Objects.requireNonNull(best); // the lane that has used least is among those
    waiting.remove(chosen.what());
    chosen.lane().pass.remove(chosen);
    chosen.lane().decidedInPass.add(chosen.what());
    turnPage(chosen.lane());
    return Optional.of(chosen.what());
  }

  /** Something of the namespace took so long to decide. */
  public void used(String namespace, Duration time) {
    @Nullable Lane<T> lane = lanes.get(namespace);
    if (lane != null) {
      lane.used += Math.max(0, time.toNanos());
    }
  }

  private void turnPage(Lane<T> lane) {
    if (lane.pass.isEmpty() && !lane.nextPass.isEmpty()) {
      TreeSet<Entry<T>> empty = lane.pass;
      lane.pass = lane.nextPass;
      lane.nextPass = empty;
      lane.decidedInPass.clear();
      lane.passBegan = nanos.getAsLong();
    }
  }

  /** The least time that a namespace has used of those of which something waits. */
  private long least() {
    long least = Long.MAX_VALUE;
    for (Lane<T> lane : lanes.values()) {
      if (!lane.isEmpty()) {
        least = Math.min(least, lane.used);
      }
    }
    return least;
  }
}
