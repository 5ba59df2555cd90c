package dev.partita.plugin.checkpoint;

import dev.partita.cdi.DurableFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Syncs one folder for several writers at once: a writer that comes while a sync runs is served by the next one. */
final class GroupedSync implements DurableFile.FolderSync {
  private final AtomicLong asked = new AtomicLong();
  private final ReentrantLock turn = new ReentrantLock();
  private long done; // how many of those that asked are served; under the lock

  @Override
  public void sync(Path folder) throws IOException {
    long mine = asked.incrementAndGet();
    turn.lock();
    try {
      if (done >= mine) {
        return; // one that began after this was asked for
      }
      long served = asked.get();
      DurableFile.syncFolder(folder);
      done = served;
    } finally {
      turn.unlock();
    }
  }
}
