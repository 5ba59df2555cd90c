package dev.partita.plugin.cardreport;

import java.util.Locale;

/**
 * What a share is told of its card: PARTITA_REPORT of hook-lib/include/partita/card_report.h.
 *
 * @param number one more each time, from 1
 * @param atNanos the time up to which the figures go, of a clock that only goes on
 * @param busyNanos GPU time that the share's processes, and those of nobody known, have used since the first report
 * @param othersPercent of the card's time that all other processes used of late
 * @param wanted whether a share with a higher priority uses the card
 * @param sampledNanos the time up to which the figures go, by the machine's monotonic clock
 */
record CardReport(long number, long atNanos, long busyNanos, int othersPercent, boolean wanted, long sampledNanos) {
  /** Name of the file, beside the quota. */
  static final String NAME = "card";

  /**
   * The report's text. It always has the same length, so that nothing stays of an earlier report that it is written
   * over.
   */
  String text() {
    return String.format(
        Locale.ROOT,
        "partita-card 1\nreport %020d\nat %020d\nbusy %020d\nothers %03d\nwanted %d\nsampled %020d\nend %020d\n",
        number, atNanos, busyNanos, othersPercent, wanted ? 1 : 0, sampledNanos, number);
  }
}
