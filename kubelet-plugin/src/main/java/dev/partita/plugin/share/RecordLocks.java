package dev.partita.plugin.share;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.util.OptionalLong;

/**
 * Asks the kernel who holds record locks on an open file (fcntl(2), F_GETLK). Takes no lock itself. Not for several
 * threads.
 */
public final class RecordLocks {
  // Values and layout of struct flock are the same on 64-bit x86 and ARM.
  private static final int F_GETLK = 5;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;
  private static final int FLOCK_BYTES = 32;
  private static final int START = 8;
  private static final int LENGTH = 16;
  private static final int PID = 24;

  static final int ENOENT = 2;
  static final int EACCES = 13;

  private static final NativeLibrary C = NativeLibrary.getInstance("c");
  private static final Function FCNTL = C.getFunction("fcntl");

  private final int descriptor;
  private final Memory flock = new Memory(FLOCK_BYTES);

  /**
   * @param descriptor of the file, which need not be writable
   */
  public RecordLocks(int descriptor) {
    this.descriptor = descriptor;
  }

  /** Whether a process other than this one holds a lock on the file, wherever. */
  boolean areThere() throws IOException {
    if (!ask(0, 0)) {
      throw new IOException("who has locked it cannot be seen: error " + Native.getLastError());
    }
    return flock.getShort(0) != F_UNLCK;
  }

  /**
   * The pid of a process that holds a lock in that range, 0 or less if it cannot be seen from here; empty if there is
   * none.
   */
  public OptionalLong holder(long start, long length) {
    return ask(start, length) && flock.getShort(0) != F_UNLCK
        ? OptionalLong.of(flock.getInt(PID))
        : OptionalLong.empty();
  }

  /** A length of 0 is all that follows. */
  private boolean ask(long start, long length) {
    flock.clear();
    flock.setShort(0, F_WRLCK);
    flock.setLong(START, start);
    flock.setLong(LENGTH, length);
    return FCNTL.invokeInt(new Object[]{descriptor, F_GETLK, flock}) == 0;
  }
}
