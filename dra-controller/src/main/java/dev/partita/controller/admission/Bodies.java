package dev.partita.controller.admission;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Holds the bodies of requests that arrive or wait to be worked on. All of them together have a bounded number of
 * bytes: beyond it, the one that began first is given up. So whoever sends slowly loses his own, and keeps nobody who
 * sends quickly from being answered. For any thread.
 */
final class Bodies {
  /** Of a body that is too long so much is left. */
  static final int BEGINNING = 4096;

  private static final int CHUNK = 8 << 10;

  private final int most;
  private final long together;
  private final Set<Body> held = new LinkedHashSet<>(); // in the order in which they began
  private long bytes;

  /**
   * @param most bytes of one
   * @param together bytes of all; more than of one
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

  /** One of them, for one thread; it is to be closed when it is not needed any more. */
  final class Body implements AutoCloseable {
    private byte[] content = new byte[0];
    private int length;
    private boolean tooLong;

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
      return tooLong;
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
        Optional<byte[]> all = held.contains(this) ? Optional.of(Arrays.copyOf(content, length)) : Optional.empty();
        release(this);
        return all;
      }
    }

    @Override
    public void close() {
      release(this);
    }
  }

  private synchronized boolean add(Body to, byte[] chunk, int read) {
    if (!held.contains(to)) {
      return false;
    }
    if (to.length + read > most) {
      to.tooLong = true;
      resize(to, Math.min(to.content.length, BEGINNING));
      return false;
    }
    if (to.length + read > to.content.length) {
      resize(to, Math.min(most, Math.max(to.length + read, 2 * to.content.length)));
    }
    System.arraycopy(chunk, 0, to.content, to.length, read);
    to.length += read;
    while (bytes > together) {
      Body first = held.iterator().next();
      release(first);
      if (first == to) {
        return false;
      }
    }
    return true;
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
