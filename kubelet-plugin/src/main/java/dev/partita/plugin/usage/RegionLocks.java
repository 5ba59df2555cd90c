package dev.partita.plugin.usage;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import java.util.HashMap;
import java.util.Map;

/**
 * Who holds the record lock of which slot, by the kernel's word (fcntl(2), F_GETLK): the one thing about a slot that a container
 * cannot forge. Takes no lock itself.
 */
final class RegionLocks {
  // Values and layout of struct flock are the same on 64-bit x86 and ARM.
  private static final int F_GETLK = 5;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;
  private static final int FLOCK_BYTES = 32;
  private static final int START = 8;
  private static final int LENGTH = 16;
  private static final int PID = 24;

  private static final Function FCNTL = NativeLibrary.getInstance("c").getFunction("fcntl");

  private RegionLocks() {}

  /**
   * The holders by slot, of the first so many slots.
   *
   * @param descriptor of the region's file, which need not be writable
   * @return pids as this pid namespace names them; 0 or less for a process that cannot be seen from here
   */
  static Map<Integer, Long> holders(int descriptor, int slots) {
    Map<Integer, Long> holders = new HashMap<>();
    search(descriptor, 0, slots, new Memory(FLOCK_BYTES), holders);
    return holders;
  }

  /** Halves the range as long as somebody holds something in it: the kernel names any lock of a range, not the first. */
  private static void search(int descriptor, int from, int to, Memory flock, Map<Integer, Long> holders) {
    if (from >= to) {
      return;
    }
    flock.clear();
    flock.setShort(0, F_WRLCK);
    flock.setLong(START, UsageRegion.HEADER_BYTES + (long) from * UsageRegion.SLOT_BYTES);
    flock.setLong(LENGTH, (long) (to - from - 1) * UsageRegion.SLOT_BYTES + 1);
    if (FCNTL.invokeInt(new Object[] {descriptor, F_GETLK, flock}) != 0 || flock.getShort(0) == F_UNLCK) {
      return;
    }
    if (to - from == 1) {
      holders.put(from, (long) flock.getInt(PID));
      return;
    }
    int middle = (from + to) >>> 1;
    search(descriptor, from, middle, flock, holders);
    search(descriptor, middle, to, flock, holders);
  }
}
