package dev.partita.plugin.share;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * An open file that a container has open, too. It is used through the C library, for two things that Java cannot say.
 *
 * <p>An ordinary open(2) waits, for 45 seconds by default, while a process holds a lease on the file (fcntl(2),
 * F_SETLEASE), and a container's root can take one on every file that is mounted for it. With O_NONBLOCK the kernel
 * answers EWOULDBLOCK at once. And a mapping of the file would end this process with SIGBUS when a container cuts the
 * file. So its bytes are read and written by calls.
 *
 * <p>A change of the file ({@link #write} and {@link #cut}) still waits while another process is in the middle of one,
 * for example of one that lets the file grow by gigabytes. So no thread that others wait for may change it. Reading
 * waits for nobody.
 */
public final class UntrustedFile {
  // The same on 64-bit x86 and ARM, but for O_NOFOLLOW.
  private static final int O_RDONLY = 0;
  private static final int O_RDWR = 2;
  private static final int O_NONBLOCK = 0x800;
  private static final int O_CLOEXEC = 0x80000;
  private static final int O_NOFOLLOW = Platform.isARM() ? 0x8000 : 0x20000;
  private static final int EINTR = 4;
  private static final int EWOULDBLOCK = 11;
  private static final int EACCES = 13;
  private static final int EINVAL = 22;

  // statx(2): struct statx is the same everywhere, struct stat is not.
  private static final int AT_EMPTY_PATH = 0x1000;
  private static final int STATX_BASIC_STATS = 0x7ff;
  private static final int STATX_BYTES = 256;
  private static final int LINKS = 16;
  private static final int MODE = 28;
  private static final int SIZE = 40;
  private static final int TYPE_OF_FILE = 0xf000;
  private static final int REGULAR = 0x8000;

  private static final NativeLibrary C = NativeLibrary.getInstance("c");
  private static final Function OPEN = C.getFunction("open");
  private static final Function CLOSE = C.getFunction("close");
  private static final Function PREAD = C.getFunction("pread");
  private static final Function PWRITE = C.getFunction("pwrite");
  private static final Function FTRUNCATE = C.getFunction("ftruncate");

  /** What is asked of every region each second. JNA's direct mapping takes less of a call than its functions do. */
  private static final class Direct {
    static {
      Native.register(Direct.class, C);
    }

    private Direct() {}

    static native int statx(int folder, long path, int flags, int mask, long buffer);
  }

  /** AT_EMPTY_PATH asks for a path of no characters. */
  private static final Memory NO_PATH = noPath();

  private final int descriptor;
  private final Memory status = new Memory(STATX_BYTES);
  private int users = 1;

  private static Memory noPath() {
    Memory path = new Memory(1);
    path.clear();
    return path;
  }

  private UntrustedFile(int descriptor) {
    this.descriptor = descriptor;
  }

  /** What came of an attempt to open a file. */
  sealed interface Opening {
    /** Whoever gets it must {@link UntrustedFile#release} it. */
    record Opened(UntrustedFile file) implements Opening {}

    /** A process holds a lease on the file, which the kernel has begun to break. */
    record Leased() implements Opening {}

    /**
     * It cannot be opened, or is no regular file.
     *
     * @param error of errno(3)
     */
    record Failed(int error) implements Opening {}
  }

  /**
   * Opens a file for reading and writing, or for reading alone where its permissions do not allow more. Waits for
   * nobody.
   */
  static Opening open(Path path) {
    Opening both = open(path, O_RDWR | O_NONBLOCK);
    return both instanceof Opening.Failed failed && failed.error() == EACCES ? open(path, O_RDONLY | O_NONBLOCK) : both;
  }

  /**
   * The same, but waits until a lease is broken, for as long as {@code fs.lease-break-time} says. Meanwhile nobody gets
   * another lease, since the kernel refuses leases on a file that is being opened for writing. So a container that
   * takes a lease again and again can keep {@link #open} out for ever, but not this.
   */
  static Opening openWaiting(Path path) {
    return open(path, O_RDWR);
  }

  /** Opens a file for reading. Waits for nobody. */
  static Opening openToRead(Path path) {
    return open(path, O_RDONLY | O_NONBLOCK);
  }

  private static Opening open(Path path, int mode) {
    int descriptor;
    int error;
    do {
      descriptor = OPEN.invokeInt(new Object[]{path.toString(), mode | O_CLOEXEC | O_NOFOLLOW});
      error = descriptor < 0 ? Native.getLastError() : 0;
    } while (error == EINTR);
    if (descriptor < 0) {
      return error == EWOULDBLOCK ? new Opening.Leased() : new Opening.Failed(error);
    }
    UntrustedFile file = new UntrustedFile(descriptor);
    if (!file.isRegular()) {
      file.release();
      return new Opening.Failed(EINVAL);
    }
    return new Opening.Opened(file);
  }

  /**
   * Takes part in the use of the descriptor, which stays open until all have released it; false if it is closed
   * already.
   */
  synchronized boolean retain() {
    if (users > 0) {
      users++;
      return true;
    }
    return false;
  }

  synchronized void release() {
    users--;
    if (users == 0) {
      CLOSE.invokeInt(new Object[]{descriptor});
    }
  }

  /** Who holds record locks on it. */
  public RecordLocks locks() {
    return new RecordLocks(descriptor);
  }

  /** In bytes; -1 if the kernel does not say. */
  public synchronized long size() {
    return stat() ? status.getLong(SIZE) : -1;
  }

  /** In bytes; -1 if the kernel does not say, if its name was removed, or if it is closed already. */
  synchronized long sizeUnlessUnlinked() {
    return users > 0 && stat() && status.getInt(LINKS) > 0 ? status.getLong(SIZE) : -1;
  }

  /** Whether its name was removed, so that a file of that name is another one. */
  synchronized boolean isUnlinked() {
    return stat() && status.getInt(LINKS) == 0;
  }

  private synchronized boolean isRegular() {
    return stat() && (status.getShort(MODE) & TYPE_OF_FILE) == REGULAR;
  }

  private boolean stat() {
    return Direct.statx(
        descriptor, Pointer.nativeValue(NO_PATH), AT_EMPTY_PATH, STATX_BASIC_STATS, Pointer.nativeValue(status))
        == 0;
  }

  /** The bytes there; zeros behind the end of the file, which a container can cut at any moment. */
  public byte[] read(long at, int length) {
    Memory memory = new Memory(Math.max(1, length));
    memory.clear();
    long got = PREAD.invokeLong(new Object[]{descriptor, memory, (long) length, at});
    byte[] bytes = new byte[length];
    memory.read(0, bytes, 0, Math.clamp(got, 0, length));
    return bytes;
  }

  /** Writes bytes there; whether all of them were written. */
  public boolean write(long at, byte[] bytes) {
    return PWRITE.invokeLong(new Object[]{descriptor, bytes, (long) bytes.length, at}) == bytes.length;
  }

  /** Makes the file as long as that; what is new is zeros. */
  public boolean cut(long length) {
    return FTRUNCATE.invokeInt(new Object[]{descriptor, length}) == 0;
  }

  /** All of a small file; null if there is none. */
  static byte @Nullable [] readAll(Path path, int most) throws IOException {
    return switch (openToRead(path)) {
      case Opening.Opened opened -> {
        try {
          long size = opened.file().size();
          if (size > most) {
            throw new IOException(path + " has " + size + " bytes, more than the " + most + " that it can have");
          }
          yield opened.file().read(0, (int) Math.max(0, size));
        } finally {
          opened.file().release();
        }
      }
      case Opening.Leased ignored -> throw new IOException("a process of a container holds a lease on " + path);
      case Opening.Failed failed -> {
        if (failed.error() == RecordLocks.ENOENT) {
          yield null;
        }
        throw new IOException(path + " cannot be opened: error " + failed.error());
      }
    };
  }
}
