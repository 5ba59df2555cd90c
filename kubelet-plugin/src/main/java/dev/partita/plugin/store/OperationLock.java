package dev.partita.plugin.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps operations apart that change the same part of the node's state, among the threads of this plugin and among
 * plugins: operations on one claim, on one card, and on the whole node, which run alone. For example, claims of
 * different cards are prepared at the same time, and two claims of one card check one after the other whether they fit
 * beside each other.
 *
 * <p>Locks are taken in the order node, claim, cards, and cards in the order of their places in the file, so that there
 * is no deadlock. Each claim and each card has a byte of the lock file, by a hash. Where two have the same byte, that
 * costs time and nothing else. A lock on the whole file, which plugins before this one take, excludes all of them.
 */
public final class OperationLock implements AutoCloseable {
  private static final int BYTES_OF_A_KIND = 1 << 12;

  /**
   * Time between two tries for what another plugin holds. No thread waits in the kernel. The kernel takes the process
   * for the waiter, not the thread. So two plugins, each with one thread that holds a lock and one that waits, look
   * like a deadlock to it (EDEADLK, fcntl(2)).
   */
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(2);

  private final ReadWriteLock node = new ReentrantReadWriteLock();
  private final Map<Long, ReentrantLock> threads = new ConcurrentHashMap<>(); // by byte
  private final FileChannel file;
  private final Map<Object, Long> begun = new ConcurrentHashMap<>(); // operations under way, by System.nanoTime

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

  /** Waits until no other operation is under way, then runs. An operation does not start another one. */
  public <T> T run(Operation<T> operation) throws IOException {
    node.writeLock().lock();
    try (FileLock _ = take(0, Long.MAX_VALUE)) {
      return timed(operation);
    } finally {
      node.writeLock().unlock();
    }
  }

  /**
   * For how long this plugin's longest operation of the moment has been under way, without its wait for others; zero if
   * there is none.
   */
  public Duration heldFor() {
    long now = System.nanoTime();
    return begun.values().stream().map(since -> Duration.ofNanos(now - since)).max(Duration::compareTo)
        .orElse(Duration.ZERO);
  }

  /** Waits until no other operation on the claim is under way, then runs. */
  public <T> T onClaim(String uid, Operation<T> operation) throws IOException {
    node.readLock().lock();
    try {
      return holding(List.of(byteOf(uid)).iterator(), () -> timed(operation));
    } finally {
      node.readLock().unlock();
    }
  }

  /**
   * Waits until no other operation on any of the cards is under way, then runs. Only within {@link #onClaim}.
   *
   * @param uuids the cards
   */
  public <T> T onCards(Collection<String> uuids, Operation<T> operation) throws IOException {
    SortedSet<Long> bytes = new TreeSet<>();
    uuids.forEach(uuid -> bytes.add(BYTES_OF_A_KIND + byteOf(uuid)));
    return holding(bytes.iterator(), operation);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  private <T> T timed(Operation<T> operation) throws IOException {
    Object key = new Object();
    begun.put(key, System.nanoTime());
    try {
      return operation.run();
    } finally {
      begun.remove(key);
    }
  }

  private <T> T holding(Iterator<Long> bytes, Operation<T> operation) throws IOException {
    if (!bytes.hasNext()) {
      return operation.run();
    }
    long next = bytes.next();
    ReentrantLock thread = threads.computeIfAbsent(next, b -> new ReentrantLock());
    thread.lock();
    try (FileLock _ = take(next, 1)) {
      return holding(bytes, operation);
    } finally {
      thread.unlock();
    }
  }

  private static long byteOf(String name) {
    return Math.floorMod(name.hashCode() * 0x9e3779b9, BYTES_OF_A_KIND);
  }

  private FileLock take(long position, long size) throws IOException {
    while (true) {
      FileLock taken = tryToTake(position, size);
      if (taken != null) {
        return taken;
      }
      try {
        Thread.sleep(BETWEEN_TRIES);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("the plugin is stopping while another one holds the lock");
      }
    }
  }

  private @Nullable FileLock tryToTake(long position, long size) throws IOException {
    try {
      return file.tryLock(position, size, false);
    } catch (OverlappingFileLockException e) { // held by a plugin in this very process
      return null;
    }
  }
}
