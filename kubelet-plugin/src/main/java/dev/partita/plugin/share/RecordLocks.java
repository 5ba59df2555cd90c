package dev.partita.plugin.share;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;

/** Who holds record locks on an open file, by the kernel's word (fcntl(2), F_GETLK). Takes no lock itself. Not for several threads. */
public final class RecordLocks {
  // Values and layout of struct flock are the same on 64-bit x86 and ARM.
  private static final int F_GETLK = 5;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;
  private static final int FLOCK_BYTES = 32;
  private static final int START = 8;
  private static final int LENGTH = 16;
  private static final int PID = 24;

  private static final int O_WRONLY = 1;
  private static final int O_CLOEXEC = 0x80000;
  private static final int ENOENT = 2;
  private static final int EACCES = 13;

  private static final NativeLibrary C = NativeLibrary.getInstance("c");
  private static final Function OPEN = C.getFunction("open");
  private static final Function CLOSE = C.getFunction("close");
  private static final Function FCNTL = C.getFunction("fcntl");

  private final int descriptor;
  private final Memory flock = new Memory(FLOCK_BYTES);

  /**
   * @param descriptor of the file, which need not be writable
   */
  public RecordLocks(int descriptor) {
    this.descriptor = descriptor;
  }

  /** Whether a process other than this one holds a lock on a file. One that is not there, or that may not be opened, has none that can be seen. */
  static boolean areOn(Path file) throws IOException {
    int descriptor = OPEN.invokeInt(new Object[] {file.toString(), O_WRONLY | O_CLOEXEC}); // for writing, which a folder cannot be opened for
    if (descriptor < 0) {
      int error = Native.getLastError();
      if (error == ENOENT || error == EACCES) {
        return false;
      }
      throw new IOException(file + " cannot be opened to see who has locked it: error " + error);
    }
    try {
      RecordLocks locks = new RecordLocks(descriptor);
      if (!locks.ask(0, 0)) {
        throw new IOException("who has locked " + file + " cannot be seen: error " + Native.getLastError());
      }
      return locks.flock.getShort(0) != F_UNLCK;
    } finally {
      CLOSE.invokeInt(new Object[] {descriptor});
    }
  }

  /** The pid of one who holds a lock in that range, 0 or less for a process that cannot be seen from here; empty if nobody does. */
  public OptionalLong holder(long start, long length) {
    return ask(start, length) && flock.getShort(0) != F_UNLCK ? OptionalLong.of(flock.getInt(PID)) : OptionalLong.empty();
  }

  /** A length of 0 is all that follows. */
  private boolean ask(long start, long length) {
    flock.clear();
    flock.setShort(0, F_WRLCK);
    flock.setLong(START, start);
    flock.setLong(LENGTH, length);
    return FCNTL.invokeInt(new Object[] {descriptor, F_GETLK, flock}) == 0;
  }
}
