package dev.partita.plugin.resize;

import dev.partita.plugin.usage.measure.ShareRef;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what claims are asked to give back of the memory that they were lent, since another claim needs it, and counts
 * how that ended since the plugin started. What comes back although nobody needs it at once is not counted. For any
 * thread.
 */
public final class Recalls {
  /** How it ended that a claim was asked for what it had been lent. */
  public enum Outcome {
    /** Its programs gave it back, or ended. */
    RETURNED,
    /** Some of its programs were killed, since they held it after the grace. */
    KILLED,
    /** Nobody needs it any more: what it has it keeps. */
    WITHDRAWN
  }

  /**
   * What is asked back of a share.
   *
   * @param bytes that have not come back yet
   * @param overdue how long the grace has been over; zero within it
   */
  public record OfShare(long bytes, Duration overdue) {
    public static final OfShare NOTHING = new OfShare(0, Duration.ZERO);
  }

  /**
   * What is asked back of a claim.
   *
   * @param bytes by share
   * @param until when its processes may hold it
   * @param hasKilled whether some were killed for it
   */
  private record Open(Map<ShareRef, Long> bytes, Instant until, boolean hasKilled) {}

  private final InstantSource clock;
  private final Map<String, Open> open = new HashMap<>(); // by the claim's UID
  private final Map<Outcome, Long> ended = new EnumMap<>(Outcome.class);

  /** @param monotonicClock for how long something lasts */
  public Recalls(InstantSource monotonicClock) {
    this.clock = monotonicClock;
    for (Outcome outcome : Outcome.values()) {
      ended.put(outcome, 0L);
    }
  }

  /**
   * A claim is asked for what it was lent, or still is.
   *
   * @param bytes that are to come back, by share
   * @param until when its processes may hold them
   */
  synchronized void asked(String uid, Map<ShareRef, Long> bytes, Instant until) {
    @Nullable Open before = open.get(uid);
    open.put(uid, new Open(Map.copyOf(bytes), until, before != null && before.hasKilled()));
  }

  /** Processes of a claim that is asked were killed. */
  synchronized void killed(String uid) {
    open.computeIfPresent(uid, (_, its) -> new Open(its.bytes(), its.until(), true));
  }

  /** A claim has no more of what it was asked for. Nothing happens if it was not asked. */
  synchronized void returned(String uid) {
    end(uid, Outcome.RETURNED);
  }

  /** A claim may keep what it was asked for. Nothing happens if it was not asked. */
  synchronized void withdrawn(String uid) {
    end(uid, Outcome.WITHDRAWN);
  }

  private void end(String uid, Outcome unlessKilled) {
    @Nullable Open its = open.remove(uid);
    if (its != null) {
      ended.merge(its.hasKilled() ? Outcome.KILLED : unlessKilled, 1L, Long::sum);
    }
  }

  /** What is asked back now, by share; shares of which nothing is are not in it. */
  public synchronized Map<ShareRef, OfShare> current() {
    Instant now = clock.instant();
    Map<ShareRef, OfShare> current = new HashMap<>();
    for (Open its : open.values()) {
      Duration overdue = now.isAfter(its.until()) ? Duration.between(its.until(), now) : Duration.ZERO;
      its.bytes().forEach((share, bytes) -> current.put(share, new OfShare(bytes, overdue)));
    }
    return current;
  }

  /** How often it ended in which way. */
  public synchronized Map<Outcome, Long> ended() {
    return new EnumMap<>(ended);
  }
}
