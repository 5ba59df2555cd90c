package dev.partita.serving.http;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Keeps the open connections of a server. When there are as many as there may be, one is closed for a new one: of those
 * that wait for their client, to send a request or to read an answer, the one that has done so for longest; where these
 * are fewer than half of all, the one that has been idle for longest. So a client that opens many connections, and
 * sends or reads little on them, loses its own, and idle connections cannot keep new ones out. For any thread.
 */
final class Connections {
  private final int most;
  private final LongSupplier nanoTime;

  // Each in the order in which they came to be so.
  private final Set<One> asking = new LinkedHashSet<>();
  private final Set<One> idle = new LinkedHashSet<>();
  private final Set<One> answered = new LinkedHashSet<>();
  private final Set<One> writing = new LinkedHashSet<>();

  private long unsent; // bytes of all answers that are being written
  private boolean areEnded;

  /** @param nanoTime as {@link System#nanoTime} */
  Connections(int most, LongSupplier nanoTime) {
    this.most = most;
    this.nanoTime = nanoTime;
  }

  /** A connection. */
  final class One {
    private final Closeable socket;
    private boolean gone;
    private long since;
    private long deadline;
    private long unsent;

    private One(Closeable socket) {
      this.socket = socket;
    }

    /** A request begins to arrive, or is to. */
    void asks() {
      move(this, asking, HttpLimits.REQUEST);
    }

    /**
     * The request is there, and is being answered: it is not cut off to make room.
     *
     * @return whether it was not cut off before
     */
    boolean isAnswered() {
      return move(this, answered, HttpLimits.ANSWER);
    }

    /**
     * The answer is there, and is to be read. If all of those that are take too much memory, those that have been for
     * longest are ended.
     *
     * @param bytes of the answer
     */
    void isWritten(long bytes) {
      move(this, writing, HttpLimits.ANSWER);
      endUnread(this, bytes);
    }

    /** It is kept for another request. */
    void idles() {
      move(this, idle, HttpLimits.IDLE);
    }

    void ended() {
      remove(this);
      closed(this);
    }
  }

  /** A new one; empty if all have been ended, or if there is no room, since all others are being answered. */
  Optional<One> open(Closeable socket) {
    One fresh = new One(socket);
    Optional<One> last;
    synchronized (this) {
      if (areEnded) {
        return Optional.empty();
      }
      boolean full = all().size() >= most;
      last = full ? last() : Optional.empty();
      if (full && last.isEmpty()) {
        return Optional.empty();
      }
      last.ifPresent(this::remove);
      move(fresh, asking, HttpLimits.REQUEST);
    }
    last.ifPresent(Connections::closed);
    return Optional.of(fresh);
  }

  /** Ends those that have had their time. */
  void endOverdue() {
    long now = nanoTime.getAsLong();
    List<One> overdue;
    synchronized (this) {
      overdue = all().stream().filter(one -> now - one.deadline >= 0).toList();
      overdue.forEach(this::remove);
    }
    overdue.forEach(Connections::closed);
  }

  /**
   * Ends all, also those that are being answered, and those to come: whoever waits in accept(2) may be given one more
   * after the port was closed.
   */
  void endAll() {
    synchronized (this) {
      areEnded = true;
    }
    all().forEach(One::ended);
  }

  /** How many are being answered, or have not read their answer yet. */
  synchronized int areAnswered() {
    return answered.size() + writing.size();
  }

  private Optional<One> last() {
    long now = nanoTime.getAsLong();
    Optional<One> slowest = Stream.of(asking, writing).flatMap(set -> set.stream().limit(1))
        .max(Comparator.comparingLong(one -> now - one.since));
    Optional<One> idlest = idle.stream().findFirst();
    return asking.size() + writing.size() < most / 2 ? idlest.or(() -> slowest) : slowest.or(() -> idlest);
  }

  private void endUnread(One fresh, long bytes) {
    List<One> ended = new ArrayList<>();
    synchronized (this) {
      if (!fresh.gone) {
        fresh.unsent = bytes;
        unsent += bytes;
      }
      while (unsent > HttpLimits.UNSENT_BYTES && writing.size() > 1) {
        One oldest = writing.iterator().next();
        remove(oldest);
        ended.add(oldest);
      }
    }
    ended.forEach(Connections::closed);
  }

  private synchronized List<One> all() {
    return Stream.of(asking, idle, answered, writing).flatMap(Set::stream).toList();
  }

  private synchronized boolean move(One one, Set<One> to, Duration most) {
    if (!one.gone) {
      takeOut(one);
      one.since = nanoTime.getAsLong();
      one.deadline = one.since + most.toNanos();
      to.add(one);
    }
    return !one.gone;
  }

  private synchronized void remove(One one) {
    takeOut(one);
    one.gone = true;
  }

  private synchronized void takeOut(One one) {
    asking.remove(one);
    idle.remove(one);
    answered.remove(one);
    writing.remove(one);
    unsent -= one.unsent;
    one.unsent = 0;
  }

  private static void closed(One one) {
    try {
      one.socket.close();
    } catch (IOException e) {
      // it is of no use any more in any case
    }
  }
}
