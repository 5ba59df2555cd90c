package dev.partita.plugin.share;

import dev.partita.plugin.share.UntrustedFile.Opening;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Keeps the node's usage regions open for writing, from the moment they are made until they are removed.
 *
 * <p>While a file is open for writing, the kernel gives nobody a lease on it, so no container can make this process
 * wait for one. Only between two plugins a container can still take a lease: its region then counts as unreadable until
 * the kernel has broken the lease, and nothing else waits for that.
 *
 * <p>Regions are changed by threads of their own, at most one for each. A container can hold a change up for as long as
 * it lets the file grow.
 */
public final class UsageRegions implements AutoCloseable {
  private final Map<Path, UntrustedFile> open = new HashMap<>();
  private final Set<Path> leased = new HashSet<>(); // a thread waits for each
  private final Set<Path> changing = new HashSet<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(Thread.ofPlatform().name("region").daemon().factory());
  private boolean closed;

  /**
   * Reads a region.
   *
   * @param otherwise what is said of one that is not there, is no file, or cannot be opened now
   */
  public <T> T read(Path region, Function<UntrustedFile, T> reading, T otherwise) {
    return switch (open(region)) {
      case Opening.Opened opened -> {
        try {
          yield reading.apply(opened.file());
        } finally {
          opened.file().release();
        }
      }
      case Opening.Leased ignored -> otherwise;
      case Opening.Failed ignored -> otherwise;
    };
  }

  /**
   * The first of several regions that has more bytes than that, which a container must have added; empty if none has.
   * One that cannot be opened now is left out.
   */
  public Optional<Path> larger(Collection<Path> regions, long bytes) {
    return regions.stream().filter(region -> size(region) > bytes).findFirst();
  }

  private long size(Path region) {
    UntrustedFile known;
    synchronized (this) {
      known = open.get(region);
    }
    long size = known == null ? -1 : known.sizeUnlessUnlinked();
    return size >= 0 ? size : read(region, UntrustedFile::size, -1L);
  }

  /**
   * Changes a region, on a thread of its own. While an earlier change of the region is not through, nothing is done:
   * whoever has something to write there sees the next time that it is not written.
   *
   * @return to wait for the change, which is none if nothing is done
   */
  public Future<?> change(Path region, Consumer<UntrustedFile> change) {
    FutureTask<?> task = new FutureTask<>(() -> changeAndEnd(region, change), null);
    synchronized (this) {
      if (closed || !changing.add(region)) {
        task.cancel(false);
        return task;
      }
      threads.execute(task);
      return task;
    }
  }

  private void changeAndEnd(Path region, Consumer<UntrustedFile> change) {
    try {
      read(
          region,
          file -> {
            change.accept(file);
            return true;
          },
          false);
    } finally {
      synchronized (this) {
        changing.remove(region);
      }
    }
  }

  /** Opens a region unless it is open; whoever gets it must release it. */
  synchronized Opening open(Path region) {
    UntrustedFile known = open.get(region);
    if (known != null && known.isUnlinked()) { // it was removed, and there may be a new one
      forget(region);
      known = null;
    }
    if (known != null && known.retain()) {
      return new Opening.Opened(known);
    }
    if (leased.contains(region)) {
      return new Opening.Leased();
    }
    Opening opening = UntrustedFile.open(region);
    switch (opening) {
      case Opening.Opened opened -> {
        if (!closed && opened.file().retain()) {
          open.put(region, opened.file());
        }
      }
      case Opening.Leased ignored -> {
        if (!closed && leased.add(region)) {
          threads.execute(() -> openPatiently(region));
        }
      }
      case Opening.Failed ignored -> {}
    }
    return opening;
  }

  private void openPatiently(Path region) {
    Opening opening = UntrustedFile.openWaiting(region);
    synchronized (this) {
      leased.remove(region);
      if (opening instanceof Opening.Opened opened && (closed || open.putIfAbsent(region, opened.file()) != null)) {
        opened.file().release();
      }
    }
  }

  /** Closes a region that is being removed: while it is open its memory is not the node's again. */
  synchronized void forget(Path region) {
    UntrustedFile file = open.remove(region);
    if (file != null) {
      file.release();
    }
  }

  /**
   * Closes regions that another plugin, or somebody, has removed.
   *
   * @param looked those that are read all the time, which shows when one of them was removed
   */
  public synchronized void forgetRemoved(Set<Path> looked) {
    List<Path> removed = new ArrayList<>();
    open.forEach(
        (region, file) -> {
          if (!looked.contains(region) && file.isUnlinked()) {
            removed.add(region);
          }
        });
    removed.forEach(this::forget);
  }

  /** Closes all regions below a folder. */
  synchronized void forgetBelow(Path folder) {
    Set.copyOf(open.keySet()).stream().filter(region -> region.startsWith(folder)).forEach(this::forget);
  }

  @Override
  public synchronized void close() {
    closed = true;
    Set.copyOf(open.keySet()).forEach(this::forget);
    threads.shutdown();
  }
}
