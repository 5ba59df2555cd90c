package dev.partita.controller.admission;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Holds the bodies of requests that arrive or wait to be worked on. All of them together have a bounded number of
 * bytes. Where one more does not fit, the largest is given up, and of equal ones the one that began first. A body of up
 * to {@link #SMALL} bytes is never given up, since almost every review is one: with 256 connections, small ones have at
 * most 32 MiB together. So large bodies keep out large ones alone, whether they are sent slowly or quickly. For any
 * thread.
 */
final class Bodies {
  /** Of a body that is too long, or is given up, so much is left. */
  static final int BEGINNING = 4096;

  /** Bytes up to which a body is small: a review of a pod of ten containers has about 40 KiB. */
  static final int SMALL = 128 << 10;

  private static final int CHUNK = 8 << 10;

  private final int most;
  private final long together;
  private final Set<Body> held = new LinkedHashSet<>(); // in the order in which they began
  private long bytes;

  /**
   * @param most bytes of one
   * @param together bytes of all: those of one, and {@link #SMALL} of each other, at least
   */
  Bodies(int most, long together) {
    this.most = most;
    this.together = together;
  }

  synchronized Body begin() {
    Body fresh = new Body();
    held.add(fresh);
    return fresh;
  }

  /** Whether a body is held, or why it is not any more. */
  private enum State {
    KEPT, TOO_LONG, GIVEN_UP
  }

  /** One of them, for one thread; it is to be closed when it is not needed any more. */
  final class Body implements AutoCloseable {
    private byte[] content = new byte[0];
    private int length;
    private State state = State.KEPT;

    /**
     * Reads it to its end, unless it is too long or is given up.
     *
     * @return whether all of it is there
     */
    boolean read(InputStream in) throws IOException {
      byte[] chunk = new byte[CHUNK];
      for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
        if (!add(this, chunk, read)) {
          return false;
        }
      }
      return true;
    }

    /** Whether it has more bytes than one may have. */
    boolean isTooLong() {
      synchronized (Bodies.this) {
        return state == State.TOO_LONG;
      }
    }

    /** Whether it has more than {@link #SMALL} bytes. */
    boolean isLarge() {
      synchronized (Bodies.this) {
        return length > SMALL;
      }
    }

    /** The first bytes of it. */
    byte[] beginning() {
      synchronized (Bodies.this) {
        return Arrays.copyOf(content, Math.min(length, BEGINNING));
      }
    }

    /** All of it, which is not held any more then; empty if it was given up. */
    Optional<byte[]> taken() {
      synchronized (Bodies.this) {
        if (state != State.KEPT) {
          return Optional.empty();
        }
        byte[] all = Arrays.copyOf(content, length);
        release(this);
        return Optional.of(all);
      }
    }

    @Override
    public void close() {
      release(this);
    }
  }

  private synchronized boolean add(Body to, byte[] chunk, int read) {
    if (to.state != State.KEPT) {
      return false;
    }
    if (to.length + read > most) {
      leave(to, State.TOO_LONG);
      return false;
    }
    if (to.length + read > to.content.length) {
      resize(to, roomFor(to.length + read));
    }
    System.arraycopy(chunk, 0, to.content, to.length, read);
    to.length += read;
    while (bytes > together) {
      leave(largest(), State.GIVEN_UP);
    }
    return to.state == State.KEPT;
  }

  /** A small body has at most {@link #SMALL} bytes on the heap, too. */
  private int roomFor(int length) {
    int doubled = Math.max(CHUNK, Integer.highestOneBit(length - 1) << 1);
    return Math.min(most, doubled);
  }

  /** It is a large one, since small ones fit together. */
  private Body largest() {
    return held.stream().max(Comparator.<Body>comparingInt(body -> body.content.length)).orElseThrow();
  }

  private void leave(Body body, State state) {
    body.state = state;
    resize(body, Math.min(body.content.length, BEGINNING));
  }

  private void resize(Body body, int size) {
    bytes += size - body.content.length;
    body.content = Arrays.copyOf(body.content, size);
    body.length = Math.min(body.length, size);
  }

  private synchronized void release(Body body) {
    if (held.remove(body)) {
      resize(body, 0);
    }
  }
}
