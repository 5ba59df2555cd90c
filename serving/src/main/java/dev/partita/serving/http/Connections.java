package dev.partita.serving.http;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Keeps the open connections of a server. When there are as many as there may be, one is closed for a new one: first
 * one that never sent a whole request, and of these the one that has waited longest for its next request. So a client
 * that opens many connections, and sends little on them, loses its own. For any thread.
 */
final class Connections {
  private final int most;
  private final LongSupplier nanoTime;

  // Each in the order in which they came to be so.
  private final Set<One> asking = new LinkedHashSet<>();
  private final Set<One> idle = new LinkedHashSet<>();
  private final Set<One> answered = new LinkedHashSet<>();
  private boolean areEnded;

  /** @param nanoTime as {@link System#nanoTime} */
  Connections(int most, LongSupplier nanoTime) {
    this.most = most;
    this.nanoTime = nanoTime;
  }

  /** A connection. */
  final class One {
    private final Closeable socket;
    private boolean proven;
    private boolean gone;
    private long deadline;

    private One(Closeable socket) {
      this.socket = socket;
    }

    /** A request begins to arrive, or is to. */
    void asks() {
      move(this, asking, HttpLimits.REQUEST);
    }

    /** The request is there, and is being answered: it is not cut off to make room. */
    void isAnswered() {
      move(this, answered, HttpLimits.ANSWER);
    }

    /** It is kept for another request. */
    void idles() {
      synchronized (Connections.this) {
        proven = true;
      }
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
      last = asking.size() + idle.size() + answered.size() < most ? Optional.empty() : last();
      if (last.isEmpty() && asking.size() + idle.size() + answered.size() >= most) {
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

  synchronized int areAnswered() {
    return answered.size();
  }

  private Optional<One> last() {
    return asking.stream().filter(one -> !one.proven).findFirst().or(() -> idle.stream().findFirst())
        .or(() -> asking.stream().findFirst());
  }

  private synchronized List<One> all() {
    return Stream.of(asking, idle, answered).flatMap(Set::stream).toList();
  }

  private synchronized void move(One one, Set<One> to, Duration most) {
    if (!one.gone) {
      asking.remove(one);
      idle.remove(one);
      answered.remove(one);
      one.deadline = nanoTime.getAsLong() + most.toNanos();
      to.add(one);
    }
  }

  private synchronized void remove(One one) {
    asking.remove(one);
    idle.remove(one);
    answered.remove(one);
    one.gone = true;
  }

  private static void closed(One one) {
    try {
      one.socket.close();
    } catch (IOException e) {
      // it is of no use any more in any case
    }
  }
}
