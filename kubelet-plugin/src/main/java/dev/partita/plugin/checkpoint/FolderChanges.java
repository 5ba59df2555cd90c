package dev.partita.plugin.checkpoint;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.ptr.IntByReference;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells which files of a folder have changed since the last question. The kernel reports the changes (inotify(7)), so
 * the answer has every change that any process made before the question. Where the kernel gives no more watches, the
 * answer is always that everything may have changed. Not for several threads.
 */
final class FolderChanges implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FolderChanges.class);

  // Values are the same on 64-bit x86 and ARM.
  private static final int IN_NONBLOCK = 0x800;
  private static final int IN_CLOEXEC = 0x80000;
  // MODIFY, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE
  private static final int IN_CHANGED = 0x2 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200;
  private static final int IN_SELF = 0x400 | 0x800; // DELETE_SELF, MOVE_SELF
  private static final int IN_ONLYDIR = 0x1000000;
  private static final int IN_OVERFLOW = 0x4000;
  private static final int IN_LOST = IN_SELF | 0x2000 | 0x8000; // and UNMOUNT, IGNORED
  private static final int FIONREAD = 0x541b;

  // struct inotify_event
  private static final int MASK = 4;
  private static final int LENGTH = 12;
  private static final int NAME = 16;

  private static final int LONGEST_EVENT = NAME + 256;
  private static final int NONE = -1;

  private static final NativeLibrary C = NativeLibrary.getInstance("c");
  private static final Function INIT = C.getFunction("inotify_init1");
  private static final Function ADD_WATCH = C.getFunction("inotify_add_watch");
  private static final Function IOCTL = C.getFunction("ioctl");
  private static final Function READ = C.getFunction("read");
  private static final Function CLOSE = C.getFunction("close");

  private final Path folder;
  private final IntByReference waiting = new IntByReference();
  private int descriptor = NONE;
  private boolean told;
  private boolean closed;

  /** Watches a folder, which must be there. */
  FolderChanges(Path folder) {
    this.folder = folder;
    watch();
  }

  /** Names of the files that have changed; empty if any may have. */
  Optional<Set<String>> take() {
    if (descriptor == NONE) {
      watch(); // before the folder is read, so that nothing is lost in between
      return Optional.empty();
    }
    Set<String> names = new TreeSet<>();
    boolean overflown = false;
    while (true) {
      if (IOCTL.invokeInt(new Object[]{descriptor, (long) FIONREAD, waiting}) != 0) {
        return lost();
      }
      if (waiting.getValue() == 0) {
        return overflown ? Optional.empty() : Optional.of(names);
      }
      int size = Math.max(waiting.getValue(), LONGEST_EVENT);
      try (Memory events = new Memory(size)) {
        int read = (int) READ.invokeLong(new Object[]{descriptor, events, (long) size});
        if (read <= 0) {
          return lost();
        }
        for (int at = 0; at < read; at += NAME + events.getInt(at + LENGTH)) {
          int mask = events.getInt(at + MASK);
          if ((mask & IN_LOST) != 0) {
            return lost();
          }
          overflown |= (mask & IN_OVERFLOW) != 0;
          if (events.getInt(at + LENGTH) > 0) {
            names.add(events.getString(at + NAME, "UTF-8"));
          }
        }
      }
    }
  }

  /** Nothing is watched from then on, whoever asks. */
  @Override
  public void close() {
    closed = true;
    end();
  }

  /** Whether the kernel reports changes. */
  boolean isWatching() {
    return descriptor != NONE;
  }

  private void end() {
    if (descriptor != NONE) {
      CLOSE.invokeInt(new Object[]{descriptor});
      descriptor = NONE;
    }
  }

  private Optional<Set<String>> lost() {
    end();
    watch();
    return Optional.empty();
  }

  private void watch() {
    if (closed) {
      return;
    }
    int opened = INIT.invokeInt(new Object[]{IN_NONBLOCK | IN_CLOEXEC});
    boolean watched = opened >= 0
        && ADD_WATCH.invokeInt(new Object[]{opened, folder.toString(), IN_CHANGED | IN_SELF | IN_ONLYDIR}) >= 0;
    if (watched) {
      descriptor = opened;
    } else if (opened >= 0) {
      CLOSE.invokeInt(new Object[]{opened});
    }
    if (!watched && !told) {
      told = true;
      LOG.warn(
          "cannot watch {}, so reading all of it each time; see fs.inotify.max_user_instances and max_user_watches",
          folder);
    }
  }
}
