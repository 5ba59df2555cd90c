package dev.partita.plugin.cardreport;

import dev.partita.plugin.usage.region.LaunchTimes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A region as the interception library writes it, as far as it says when launches were pending. */
final class Pending {
  private final int[] stretches = new int[LaunchTimes.STRETCHES];
  private long busy;
  private long processes;
  private long begun;
  private long waited;

  /** Launches were pending from one moment to another, in ns by CLOCK_MONOTONIC, in so many processes at once. */
  void add(long from, long to, int atOnce) {
    for (long at = from; at < to;) {
      long stretch = at >> LaunchTimes.STRETCH_BITS;
      long end = Math.min(to, (stretch + 1) << LaunchTimes.STRETCH_BITS);
      int round = (int) (stretch / LaunchTimes.STRETCHES) << LaunchTimes.STRETCH_BITS;
      int index = (int) (stretch % LaunchTimes.STRETCHES);
      int seen = stretches[index];
      int used = (seen ^ round) >>> LaunchTimes.STRETCH_BITS == 0 ? seen & (LaunchTimes.STRETCH_NANOS - 1) : 0;
      int more = (int) Math.min(end - at, LaunchTimes.STRETCH_NANOS - 1 - used);
      stretches[index] = round | (used + more);
      busy += more;
      processes += (long) more * atOnce;
      at = end;
    }
  }

  void add(long from, long to) {
    add(from, to, 1);
  }

  /** As {@link #add(long, long)}, after launches had waited for the card or not. */
  void begin(long from, long to, boolean late) {
    begun++;
    waited += late ? 1 : 0;
    add(from, to);
  }

  /** Writes something into the sum that no stretch has. */
  void forge(long sum) {
    busy = sum;
  }

  LaunchTimes read() {
    return new LaunchTimes(busy, processes, new LaunchTimes.Begins(begun, waited), stretches);
  }

  /** The region's first page, and one slot. */
  byte[] bytes() {
    ByteBuffer region = ByteBuffer.allocate(528_384).order(ByteOrder.nativeOrder());
    region.putLong(0, 0x3141544954524150L).putInt(128, 1).putLong(160, begun).putLong(168, waited).putLong(200, busy);
    for (int i = 0; i < stretches.length; i++) {
      region.putInt(512 + i * Integer.BYTES, stretches[i]);
    }
    return region.putLong(4096, 1).putLong(4096 + 72, processes).array();
  }
}
