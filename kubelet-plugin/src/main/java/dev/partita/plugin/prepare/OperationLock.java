package dev.partita.plugin.prepare;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/** Lets one operation at a time change the node's state, among the threads of this plugin and among plugins. */
public final class OperationLock implements AutoCloseable {
  private final ReentrantLock threads = new ReentrantLock();
  private final FileChannel file;
  private volatile long heldSince; // System.nanoTime; 0 while nobody of this plugin holds it

  /**
   * @param path a file for this purpose only; made if it is not there
   */
  public OperationLock(Path path) throws IOException {
    this.file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  /** Something that changes the node's state. */
  public interface Operation<T> {
    T run() throws IOException;
  }

  /** Waits until nobody else is at it, then runs. An operation does not start another one. */
  public <T> T run(Operation<T> operation) throws IOException {
    threads.lock();
    try {
      FileLock lock = file.lock();
      heldSince = Math.max(1, System.nanoTime());
      try {
        return operation.run();
      } finally {
        heldSince = 0;
        lock.release();
      }
    } finally {
      threads.unlock();
    }
  }

  /** How long this plugin's operation of the moment has been holding the lock; zero if there is none. */
  public Duration heldFor() {
    long since = heldSince;
    return since == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
