package dev.partita.cli.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is to be closed in the end, the last first; also from another thread, while more is being opened. */
final class Opened implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Opened.class);

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private boolean closed;

  /** Adds something; closes it at once, and fails, if everything was closed already. */
  <T extends AutoCloseable> T add(T part) {
    synchronized (this) {
      if (!closed) {
        parts.push(part);
        return part;
      }
    }
    close(part);
    throw new IllegalStateException("it is over");
  }

  @Override
  public void close() {
    while (true) {
      AutoCloseable part;
      synchronized (this) {
        closed = true;
        if (parts.isEmpty()) {
          return;
        }
        part = parts.pop();
      }
      close(part);
    }
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      LOG.warn("could not be closed: {}", part, e);
    }
  }
}
