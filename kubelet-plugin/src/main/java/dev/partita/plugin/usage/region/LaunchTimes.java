package dev.partita.plugin.usage.region;

/**
 * When a share had launches pending on its card, as its region says ({@code partita_compute} of usage_region.h). Wall
 * time, by CLOCK_MONOTONIC, is cut into stretches; whatever a container writes, none has more than its length.
 */
public final class LaunchTimes {
  /** PARTITA_STRETCH_BITS: stretch n begins at n shifted by so many bits, in ns. */
  public static final int STRETCH_BITS = 18;

  public static final int STRETCH_NANOS = 1 << STRETCH_BITS;

  /** PARTITA_STRETCHES: the last 218 ms. */
  public static final int STRETCHES = 832;

  /** Of a share that nobody has used. */
  public static final LaunchTimes NONE = new LaunchTimes(0, 0, Begins.NONE, new int[STRETCHES]);

  /**
   * How often launches of the share's processes began ({@code partita_begins} of usage_region.h); zeros where the
   * library is older and does not count.
   *
   * @param times that a process had some pending after it had none
   * @param waited of these: the card began only a while after they were launched, as another process had its slice
   */
  public record Begins(long times, long waited) {
    public static final Begins NONE = new Begins(0, 0);
  }

  private final long busyNanos;
  private final long processNanos;
  private final Begins begins;
  private final int[] stretches;

  /**
   * What a region says.
   *
   * @param busyNanos in which launches were pending, of all stretches there ever were
   * @param processNanos the same of each process by itself, added up over those that live; 0 if that was not read
   * @param begins over all of its time
   * @param stretches stretch n at n % STRETCHES: n / STRETCHES shifted by STRETCH_BITS, and ns in the bits below
   */
  public LaunchTimes(long busyNanos, long processNanos, Begins begins, int[] stretches) {
    this.busyNanos = busyNanos;
    this.processNanos = processNanos;
    this.begins = begins;
    this.stretches = stretches.clone();
  }

  public long busyNanos() {
    return busyNanos;
  }

  public long processNanos() {
    return processNanos;
  }

  public Begins begins() {
    return begins;
  }

  /** For how many ns of the stretch launches were pending, as far as the region still knows. */
  public int usedIn(long stretch) {
    int seen = stretches[(int) (stretch % STRETCHES)];
    int round = (int) (stretch / STRETCHES) << STRETCH_BITS;
    return (seen ^ round) >>> STRETCH_BITS == 0 ? seen & (STRETCH_NANOS - 1) : 0;
  }
}
